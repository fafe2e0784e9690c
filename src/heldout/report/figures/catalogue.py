"""Every figure by name: how it is cut into panels, its shape, how it is drawn and how it is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heldout.report.figures.calibration import curves_of, describe_calibration, draw_calibration, shape_of_calibration
from heldout.report.figures.canvas import Shape
from heldout.report.figures.confusion import describe_confusion, draw_confusion, shape_of_confusion
from heldout.report.figures.describe import Description
from heldout.report.figures.estimates import (
    describe_comparison,
    describe_estimates,
    describe_ranking,
    draw_comparison,
    draw_estimates,
    draw_ranking,
    shape_of_comparison,
    shape_of_estimates,
    shape_of_ranking,
)
from heldout.report.figures.folds import (
    describe_folds,
    describe_paired_folds,
    draw_folds,
    draw_paired_folds,
    shape_of_folds,
    shape_of_paired_folds,
)
from heldout.report.figures.learning_curve import describe_learning_curve, draw_learning_curve, shape_of_learning_curve
from heldout.report.figures.parameters import describe_panel, draw_panel, panels_of, shape_of_panel
from heldout.report.figures.residuals import describe_residuals, draw_residuals, outputs_of, shape_of_residuals
from heldout.report.figures.splits import describe_splits, draw_splits, shape_of_splits
from heldout.report.figures.stability import describe_stability, draw_stability, shape_of_stability, views_of
from heldout.report.figures.time import describe_time, draw_time, shape_of_time, timed

Data = Mapping[str, Any]


def _whole(data: Data) -> list[Data]:
    return [data]


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One figure: ``panels`` cuts its data into what is drawn on one pair of axes each."""

    draw: Callable[[Data, Any], Any]
    shape: Callable[[Data], Shape]
    describe: Callable[[Data], Description]
    panels: Callable[[Data], list[Any]] = _whole


KINDS: dict[str, Kind] = {
    "splits": Kind(draw=draw_splits, shape=shape_of_splits, describe=describe_splits),
    "folds": Kind(draw=draw_folds, shape=shape_of_folds, describe=describe_folds),
    "estimates": Kind(draw=draw_estimates, shape=shape_of_estimates, describe=describe_estimates),
    "parameters": Kind(draw=draw_panel, shape=shape_of_panel, describe=describe_panel, panels=panels_of),
    "stability": Kind(draw=draw_stability, shape=shape_of_stability, describe=describe_stability, panels=views_of),
    "calibration": Kind(
        draw=draw_calibration, shape=shape_of_calibration, describe=describe_calibration, panels=curves_of
    ),
    "confusion": Kind(draw=draw_confusion, shape=shape_of_confusion, describe=describe_confusion),
    "residuals": Kind(draw=draw_residuals, shape=shape_of_residuals, describe=describe_residuals, panels=outputs_of),
    "learning_curve": Kind(draw=draw_learning_curve, shape=shape_of_learning_curve, describe=describe_learning_curve),
    "time": Kind(draw=draw_time, shape=shape_of_time, describe=describe_time, panels=timed),
    "ranking": Kind(draw=draw_ranking, shape=shape_of_ranking, describe=describe_ranking),
    "comparison": Kind(draw=draw_comparison, shape=shape_of_comparison, describe=describe_comparison),
    "paired_folds": Kind(draw=draw_paired_folds, shape=shape_of_paired_folds, describe=describe_paired_folds),
}

# What one entry of a summary's figures is drawn as; all others are drawn as themselves.
TOGETHER = {"comparison": ("ranking", "comparison", "paired_folds")}
