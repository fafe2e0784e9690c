"""Work that goes ahead on numbers still being checked: it stands where the check passes, else it is done again."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Any, NamedTuple

from heldout.study.panels import Study

Heard = tuple[Warning, str, int]  # a warning, the file it comes from, and the line


class Final(NamedTuple):
    """A final predictor, and the seconds that its fit took."""

    predictor: Any
    seconds: float


class Ahead:
    """The choice that a study's answers lead to and what is made of it, done early.

    What is returned, raised and warned of is kept back until it is known to stand.
    """

    def __init__(self, choose: Callable[[], Study], then: Callable[[Study], Final | None]) -> None:
        self._choose = choose
        self._then = then
        self._study: Study | None = None
        self._made: Final | None = None
        self._error: Exception | None = None
        self._heard: list[Heard] = []

    def begin(self) -> int | None:
        """Choose; the candidate that was chosen, if any."""
        with self._kept_back():
            self._study = self._choose()
            return next((chosen.candidate for chosen in self._study.chosen.values()), None)
        return None

    def go(self) -> None:
        """Make of the choice what is asked for, while other threads may warn of what does not concern it."""
        if self._study is not None:
            with self._kept_back():
                self._made = self._then(self._study)

    @property
    def predictor(self) -> Any:
        """The final predictor that was made of the choice, or None."""
        return None if self._made is None else self._made.predictor

    def result(self, *, stands: bool) -> tuple[Study, Final | None]:
        """The study and what was made of it; where that does not stand, or was not done ahead, it is done here."""
        if not stands or (self._study is None and self._error is None):
            study = self._choose()
            return study, self._then(study)
        for message, filename, line in self._heard:
            warnings.warn_explicit(message, type(message), filename, line, module=_module_of(filename))
        if self._error is not None:
            raise self._error
        assert self._study is not None
        return self._study, self._made

    @contextmanager
    def _kept_back(self) -> Iterator[None]:
        with _of_this_thread(self._heard):
            try:
                yield
            except Exception as error:
                self._error = error


@contextmanager
def _of_this_thread(heard: list[Heard]) -> Iterator[None]:
    """Keep all warnings of this thread, whatever the filters say, which apply when they are told; drop those of others.

    Filters are of the whole process, so nothing less keeps two threads' warnings apart.
    """
    own = get_ident()

    def show(message: Any, category: Any, filename: str, lineno: int, *_: Any, **__: Any) -> None:
        if get_ident() == own:
            heard.append((message, filename, lineno))

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        yield


def _module_of(filename: str) -> str | None:
    """The module a warning came from, by which filters may go."""
    modules = list(sys.modules.items())
    return next((name for name, module in modules if getattr(module, "__file__", None) == filename), None)
