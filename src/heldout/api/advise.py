"""`advise`: recommends a recipe and row counts for choosing and testing, without fitting anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from math import floor
from typing import Any

from heldout.base.errors import OptionError
from heldout.base.shown import Shown, plain
from heldout.risk.recipe import LEARNER, PREDICTOR, Recipe, Situation, recommend
from heldout.risk.rows_needed import Aims, aim, check_count


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsNeeded:
    """Holds how many rows an interval width needs: by a bound for any losses, and by a guess of their spread."""

    bound: int | None  # None for a loss without a range
    normal: int | None  # None without a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice(Shown):
    """What :func:`heldout.advise` recommends.

    `recipe`, `call`, `k` and `sizes` are None where `n` was not told. `bounds` holds what the rows of that recipe
    promise: "dev_gap", how much worse than the best the candidate chosen on one development set of that size may be
    (validation parts that take turns do better, by an amount no bound tells), and "test_width", the width of
    Hoeffding's interval on a single test set. With groups the bounds count groups.
    """

    _shown_as = "advice"

    n: int | None = None
    candidates: int
    level: float
    gap: float | None
    width: float | None
    recipe: str | None = None
    call: str | None = None
    k: int | None = None
    sizes: Mapping[str, int] | None = None  # rows to train, to choose (one part) and to test (one part)
    dev_rows: int | None  # for the gap; None for a loss without a range, or a single candidate
    test_rows: RowsNeeded
    bounds: Mapping[str, float | None]
    reasons: tuple[str, ...] = ()
    made_from: Recipe | None = field(default=None, repr=False)

    def summary(self) -> dict[str, Any]:
        """Return the advice as plain values that JSON can hold."""
        return {
            name: plain(value) for name, value in asdict(replace(self, made_from=None)).items() if name != "made_from"
        }


def advise(
    *,
    n: int | None = None,
    candidates: int = 1,
    gap: float | None = None,
    width: float | None = None,
    level: float = 0.95,
    loss_range: float | None = 1.0,
    sd: float | None = None,
    error_rate: float | None = None,
    columns: int | None = None,
    groups: int | None = None,
    time: bool = False,
    closed_form: bool = False,
    about: str = LEARNER,
) -> Advice:
    """Recommend a recipe, and say how many rows it takes to choose and to test.

    Parameters
    ----------
    n : int, optional
        Rows at hand. Without it only the numbers of rows needed are told.
    candidates : int
        Size of the space that is chosen from; 1 for a learner without choices.
    gap : float, optional
        How much worse than the best candidate the chosen one may be; a tenth of the range of the loss when left out.
    width : float, optional
        How wide the interval of the risk may be, from its low end to its high end; a tenth of the range when left out.
    level : float
        The confidence of both.
    loss_range : float or None
        The length of the range of the loss: 1 for zero-one. None for a loss without one.
    sd, error_rate : float, optional
        A guess of the standard deviation of the loss of a row, or of the error rate, for normal planning.
    columns, groups : int, optional
        How many columns X has, and how many groups the rows come in.
    time : bool
        Whether the rows come in time.
    closed_form : bool
        Whether leave-one-out of the learner has a closed form, as for linear regression and ridge.
    about : "learner" or "predictor"
        Whether the risk of the learner is asked for, or that of one very predictor.

    Returns
    -------
    Advice

    Examples
    --------
    >>> import heldout as ho
    >>> advice = ho.advise(n=200, candidates=17, gap=0.05, width=0.1)
    >>> advice.recipe, advice.dev_rows, advice.test_rows.bound
    ('nested cross-validation', 5218, 738)
    """
    wanted = {"gap": gap, "width": width, "loss_range": loss_range, "sd": sd, "error_rate": error_rate}
    aims = aim(candidates=candidates, level=level, **wanted)
    _check_known({"n": n, "columns": columns, "groups": groups}, {"time": time, "closed_form": closed_form}, about)
    advice = Advice(
        candidates=aims.candidates,
        level=aims.level,
        gap=aims.gap if aims.candidates > 1 else None,
        width=aims.width,
        dev_rows=aims.dev_rows,
        test_rows=RowsNeeded(bound=aims.test_rows_by_bound, normal=aims.test_rows_by_normal),
        bounds={"dev_gap": None, "test_width": None},
    )
    if n is None:
        return advice
    at = Situation(
        n=n,
        candidates=candidates,
        columns=columns,
        groups=groups,
        time=time,
        closed_form=closed_form,
        about=about,
        test_rows=aims.test_rows,
        dev_rows=aims.dev_rows or aims.test_rows,
    )
    return _with_recipe(advice, aims, at)


def _check_known(counts: Mapping[str, int | None], switches: Mapping[str, bool], about: str) -> None:
    for name, count in counts.items():
        if count is not None:
            check_count(name, count)
    for name, switch in switches.items():
        if not isinstance(switch, bool):
            raise OptionError(f"{name} is True or False, not {switch!r}.")
    if about not in (LEARNER, PREDICTOR):
        raise OptionError(f'about is "learner" or "predictor", not {about!r}.')
    n, groups = counts["n"], counts["groups"]
    if groups is not None and n is not None and groups > n:
        raise OptionError(f"groups={groups} are more than the n={n} rows that they hold.")


def _with_recipe(advice: Advice, aims: Aims, at: Situation) -> Advice:
    """Add a recipe for these rows, and its bounds. Rows in time are not independent, so their bounds are None."""
    recipe = recommend(at)
    dev, held = (floor(share * at.units + 1e-9) for share in (recipe.dev, recipe.held))
    return replace(
        advice,
        n=at.n,
        recipe=recipe.name,
        call=_call(at, recipe),
        k=recipe.k,
        sizes=_sizes(at.n, recipe),
        bounds={
            "dev_gap": None if at.time else aims.gap_at(dev),
            "test_width": None if at.time or recipe.k is not None else aims.width_at(held),
        },
        reasons=tuple(map(str, recipe.reasons)),
        made_from=recipe,
    )


def _sizes(n: int, recipe: Recipe) -> dict[str, int]:
    """Return the number of rows to train a candidate, to choose and to test, in one part."""
    test, dev = round(recipe.held * n), round(recipe.dev * n)
    return {"train": n - test - dev, "dev": dev, "test": test}


def _call(at: Situation, recipe: Recipe) -> str:
    learner = "learner" if recipe.validation is None else f"Tuned(learner, space, validation={recipe.validation})"
    roles = ", groups=groups" * (at.groups is not None) + ", time=time" * at.time
    return f"evaluate({learner}, X, y, test={recipe.test}{roles})"
