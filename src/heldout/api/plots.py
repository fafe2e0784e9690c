"""Draws the figures of a result or a comparison on matplotlib axes: ``result.plot.folds()``.

Figures and pages are imported where they are drawn, so that a study without any starts sooner.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heldout.base.errors import OptionError, did_you_mean
from heldout.base.shown import Shown
from heldout.report.markup import as_latex, as_markdown, main_table

Summary = Mapping[str, Any]


class Plots:
    """The figures that the report shows, one method each; all of them need ``pip install 'heldout[plot]'``.

    Each draws on the axes it is given, or makes a figure of its own, and returns the axes, so that titles and limits
    can be changed and the figure saved: ``result.plot.folds().figure.savefig("folds.png")``. A figure that a study
    has no numbers for is an error that says why.

    Parameters
    ----------
    source : dict or callable
        A summary with figures, as ``result.summary(figures=True)`` gives it, or what gives one when it is asked for.
    prepare : callable, optional
        Called with the name of a figure before the summary is asked for, to compute what it takes.

    Examples
    --------
    >>> points = [{"fold": i, "repeat": 0, "value": v, "train_rows": 80, "held_rows": 20} for i, v in enumerate((2, 3))]
    >>> folds = {"loss": "absolute", "greater_is_better": False, "points": points}
    >>> folds |= {"value": 2.5, "low": 1.5, "high": 3.5, "level": 0.95}
    >>> Plots({"kind": "result", "figures": {"folds": folds}}).folds().get_ylabel()
    'absolute (lower is better)'
    """

    def __init__(
        self, source: Summary | Callable[[], Summary], *, prepare: Callable[[str], None] | None = None
    ) -> None:
        self._source = source
        self._prepare = prepare

    def __repr__(self) -> str:
        names = [name for name in vars(type(self)) if not name.startswith("_")]
        return f"<Plots: {', '.join(names)}>"

    def splits(self, ax: Any = None) -> Any:
        """Draw which rows each part holds out: one lane for each part, rows from left to right."""
        return self._plot("splits", ax)

    def folds(self, ax: Any = None) -> Any:
        """Draw the loss of each fold as a dot, the estimate as a line and its interval as a band."""
        return self._plot("folds", ax)

    def estimates(self, ax: Any = None) -> Any:
        """Draw every estimate with its interval; optimistic ones have hollow markers."""
        return self._plot("estimates", ax)

    def parameters(self, axes: Sequence[Any] | None = None) -> list[Any]:
        """Draw the validation loss against each parameter, and return a list of axes, one for each parameter.

        Error bars are one standard error. Rings mark the values that folds chose, with the number of folds, and a line
        marks the one-standard-error limit.
        """
        from heldout.report.figures.catalogue import KINDS
        from heldout.report.figures.describe import present

        kind = KINDS["parameters"]
        panels = kind.panels(present(self._figure("parameters")))
        if axes is not None and len(axes) != len(panels):
            raise OptionError(f"There are {len(panels)} parameters to draw, but {len(axes)} axes were given.")
        each = [None] * len(panels) if axes is None else axes
        return [kind.plot(panel, ax) for panel, ax in zip(panels, each, strict=True)]

    def stability(self, ax: Any = None, *, param: str | None = None) -> Any:
        """Draw in how many folds each candidate was chosen, or each value of the parameter ``param``."""
        from heldout.report.figures.stability import only_param

        return self._plot("stability", ax, lambda data: data if param is None else only_param(data, param))

    def calibration(self, ax: Any = None, *, label: Any = None) -> Any:
        """Draw calibration curves: observed frequency against predicted probability; ``label`` picks one class."""
        return self._plot("calibration", ax, _picker("curves", label, what="calibration curve for class"))

    def confusion(self, ax: Any = None) -> Any:
        """Draw the confusion matrix: counts, shaded by the share within each true class."""
        return self._plot("confusion", ax)

    def residuals(self, ax: Any = None, *, output: Any = None) -> Any:
        """Draw residuals, target minus prediction, against predictions; ``output`` picks a target, else the first."""
        return self._plot("residuals", ax, _picker("outputs", output, what="output"))

    def roc(self, ax: Any = None, *, label: Any = None) -> Any:
        """Draw the ROC curve of all held-out rows with its band; of several classes a curve each."""
        return self._plot("roc", ax, _picker("curves", label, what="curve of class"))

    def pr(self, ax: Any = None, *, label: Any = None) -> Any:
        """Draw precision against recall, with the band of a single curve."""
        return self._plot("pr", ax, _picker("curves", label, what="curve of class"))

    def gains(self, ax: Any = None, *, label: Any = None) -> Any:
        """Draw which share of a class is found in the share of rows with the highest scores."""
        return self._plot("gains", ax, _picker("curves", label, what="curve of class"))

    def thresholds(self, ax: Any = None) -> Any:
        """Draw precision, recall, F1 and the share called positive against the threshold."""
        return self._plot("thresholds", ax)

    def classes(self, ax: Any = None) -> Any:
        """Draw recall and precision of each class with their intervals."""
        return self._plot("classes", ax)

    def subgroups(self, ax: Any = None) -> Any:
        """Draw the risk in each subgroup that ``slices=`` names, with intervals that hold together."""
        return self._plot("subgroups", ax)

    def importance(self, ax: Any = None) -> Any:
        """Draw how much worse the loss gets when a column is permuted; fits the folds' predictors again at first."""
        return self._plot("importance", ax)

    def coefficients(self, ax: Any = None) -> Any:
        """Draw each coefficient's mean and range over folds; fits the folds' predictors again at first."""
        return self._plot("coefficients", ax)

    def learning_curve(self, ax: Any = None) -> Any:
        """Draw the risk at several training sizes; the extrapolated point has a hollow marker."""
        return self._plot("learning_curve", ax)

    def time(self, ax: Any = None) -> Any:
        """Draw the time spent on fitting and scoring, by level and family."""
        return self._plot("time", ax)

    def comparison(self, ax: Any = None) -> Any:
        """Draw the difference of each pair with its interval, a line at zero, and the rope shaded."""
        return self._plot("comparison", ax)

    def ranking(self, ax: Any = None) -> Any:
        """Draw the risk of each learner with its interval, the best learner first."""
        return self._plot("ranking", ax)

    def paired_folds(self, ax: Any = None) -> Any:
        """Draw the fold losses of all learners; a line joins the losses on the same fold."""
        return self._plot("paired_folds", ax)

    def _plot(self, name: str, ax: Any, pick: Callable[[Summary], Summary] | None = None) -> Any:
        from heldout.report.figures.catalogue import KINDS
        from heldout.report.figures.describe import present

        data = present(self._figure(name))
        return KINDS[name].plot(data if pick is None else pick(data), ax)

    def _figure(self, asked: str) -> Summary:
        from heldout.report.figures.catalogue import TOGETHER

        name = "comparison" if asked in TOGETHER["comparison"] else asked
        if self._prepare is not None:
            self._prepare(name)
        source = self._source
        summary = source() if callable(source) else source
        if "figures" not in summary:
            raise OptionError(
                f"plot.{asked}() needs a summary with figures, and this one has none. Take summary(figures=True)."
            )
        found: Summary | None = summary["figures"].get(name)
        if found is not None:
            return found
        if name == "comparison":
            raise OptionError(f"plot.{asked}() shows several learners: it comes from heldout.compare.")
        if summary.get("kind") == "comparison":
            raise OptionError(
                f"plot.{asked}() shows one learner: take the result of one, comparison.results[name].plot.{asked}()."
            )
        raise OptionError(f"This summary has no figure {asked!r}. {did_you_mean(asked, summary['figures'])}")


class Reported(Shown):
    """Base class of results that have a report with figures: a result or a comparison."""

    __slots__ = ()

    def summary(self, *, figures: bool = False) -> dict[str, Any]:
        """Return plain values that JSON can hold; `figures` adds the data of the figures."""
        raise NotImplementedError

    def _prepare_figure(self, name: str) -> None:
        """Compute the data of a figure, if it is not computed yet, before the summary is asked for."""

    @property
    def plot(self) -> Plots:
        """The figures of the report on matplotlib axes: ``result.plot.folds()``, ``comparison.plot.ranking()``."""
        return Plots(lambda: self.summary(figures=True), prepare=self._prepare_figure)

    def frame(self) -> Any:
        """Return the main table as a tidy data frame, in the library of the data; a comparison has all learners."""
        raise NotImplementedError

    def to_markdown(self) -> str:
        """Return the main table as Markdown: scores, intervals, and what no model scores or how the learners differ."""
        return as_markdown(main_table(self.summary()))

    def to_latex(self) -> str:
        """Return the main table as a LaTeX tabular, which needs no package."""
        return as_latex(main_table(self.summary()))

    def report(self, path: str | Path) -> None:
        """Write the whole report to a single HTML file that opens offline.

        Needs ``pip install 'heldout[report]'``.
        """
        from heldout.report.page import write_page

        write_page(self.summary(figures=True), path)


def _picker(key: str, label: Any, *, what: str) -> Callable[[Summary], Summary]:
    """Return a function that keeps the one entry of list `key` with this label; None keeps all entries."""

    def pick(data: Summary) -> Summary:
        members = {str(member["label"]): member for member in reversed(data[key])}
        if label is None:
            return data
        if str(label) not in members:
            names = [str(member["label"]) for member in data[key]]
            raise OptionError(f"There is no {what} {str(label)!r}. {did_you_mean(str(label), names)}")
        return {**data, key: [members[str(label)]]}

    return pick
