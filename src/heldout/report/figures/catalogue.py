"""Every figure by name: how it is cut into panels, its shape, how it is drawn and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.report.figures.calibration import curves_of, draw_calibration, shape_of_calibration, tell_calibration
from heldout.report.figures.canvas import Shape
from heldout.report.figures.comparison import draw_comparison, shape_of_comparison, tell_comparison
from heldout.report.figures.confusion import draw_confusion, shape_of_confusion, tell_confusion
from heldout.report.figures.estimates import draw_estimates, shape_of_estimates, tell_estimates
from heldout.report.figures.folds import draw_folds, shape_of_folds, tell_folds
from heldout.report.figures.learning_curve import draw_learning_curve, shape_of_learning_curve, tell_learning_curve
from heldout.report.figures.paired_folds import draw_paired_folds, shape_of_paired_folds, tell_paired_folds
from heldout.report.figures.parameters import draw_panel, panels_of, shape_of_panel, tell_panel
from heldout.report.figures.ranking import draw_ranking, shape_of_ranking, tell_ranking
from heldout.report.figures.residuals import draw_residuals, outputs_of, shape_of_residuals, tell_residuals
from heldout.report.figures.splits import draw_splits, shape_of_splits, tell_splits
from heldout.report.figures.stability import draw_stability, shape_of_stability, tell_stability, views_of
from heldout.report.figures.time import draw_time, shape_of_time, tell_time, timed
from heldout.report.figures.told import Told

Data = Mapping[str, Any]


def _whole(data: Data) -> list[Data]:
    return [data]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One figure: ``panels`` cuts its data into what is drawn on one pair of axes each."""

    draw: Callable[[Data, Any], Any]
    shape: Callable[[Data], Shape]
    tell: Callable[[Data], Told]
    panels: Callable[[Data], list[Any]] = _whole


KINDS: dict[str, Kind] = {
    "splits": Kind(draw=draw_splits, shape=shape_of_splits, tell=tell_splits),
    "folds": Kind(draw=draw_folds, shape=shape_of_folds, tell=tell_folds),
    "estimates": Kind(draw=draw_estimates, shape=shape_of_estimates, tell=tell_estimates),
    "parameters": Kind(draw=draw_panel, shape=shape_of_panel, tell=tell_panel, panels=panels_of),
    "stability": Kind(draw=draw_stability, shape=shape_of_stability, tell=tell_stability, panels=views_of),
    "calibration": Kind(draw=draw_calibration, shape=shape_of_calibration, tell=tell_calibration, panels=curves_of),
    "confusion": Kind(draw=draw_confusion, shape=shape_of_confusion, tell=tell_confusion),
    "residuals": Kind(draw=draw_residuals, shape=shape_of_residuals, tell=tell_residuals, panels=outputs_of),
    "learning_curve": Kind(draw=draw_learning_curve, shape=shape_of_learning_curve, tell=tell_learning_curve),
    "time": Kind(draw=draw_time, shape=shape_of_time, tell=tell_time, panels=timed),
    "ranking": Kind(draw=draw_ranking, shape=shape_of_ranking, tell=tell_ranking),
    "comparison": Kind(draw=draw_comparison, shape=shape_of_comparison, tell=tell_comparison),
    "paired_folds": Kind(draw=draw_paired_folds, shape=shape_of_paired_folds, tell=tell_paired_folds),
}

# What one entry of a summary's figures is drawn as; all others are drawn as themselves.
TOGETHER = {"comparison": ("ranking", "comparison", "paired_folds")}
