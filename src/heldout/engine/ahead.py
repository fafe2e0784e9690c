"""Work that goes ahead on numbers still being checked: it stands where the check passes, else it is done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from heldout.study.panels import Study


class Final(NamedTuple):
    """A final predictor, and the seconds that its fit took."""

    predictor: Any
    seconds: float


class Ahead:
    """The choice that a study's answers lead to and what is made of it, done early.

    What is returned or raised is kept back until it is known to stand.
    """

    def __init__(self, choose: Callable[[], Study], then: Callable[[Study], Final | None]) -> None:
        self._choose = choose
        self._then = then
        self._study: Study | None = None
        self._made: Final | None = None
        self._error: Exception | None = None

    def begin(self) -> int | None:
        """Choose; the candidate that was chosen, if any."""
        try:
            self._study = self._choose()
        except Exception as error:
            self._error = error
            return None
        return next((chosen.candidate for chosen in self._study.chosen.values()), None)

    def go(self) -> None:
        """Make of the choice what is asked for."""
        if self._study is None:
            return
        try:
            self._made = self._then(self._study)
        except Exception as error:
            self._error = error

    @property
    def predictor(self) -> Any:
        """The final predictor that was made of the choice, or None."""
        return None if self._made is None else self._made.predictor

    def result(self, *, stands: bool) -> tuple[Study, Final | None]:
        """The study and what was made of it; where that does not stand, or was not done ahead, it is done here."""
        if not stands or (self._study is None and self._error is None):
            study = self._choose()
            return study, self._then(study)
        if self._error is not None:
            raise self._error
        assert self._study is not None
        return self._study, self._made
