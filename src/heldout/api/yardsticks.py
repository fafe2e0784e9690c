"""Poses the yardsticks of ``checks="all"``: boosting, a linear model, the learner untuned, and single columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from heldout.audit.association import skill_of
from heldout.audit.check_table import open_table
from heldout.base.errors import ColumnError
from heldout.catalogue.learners import learner_named
from heldout.catalogue.preparation import SCALED, UNSCALED, prepare_columns, survey_table
from heldout.results.study_facts import BOOSTING, COLUMN, DEFAULTS, PLAIN_LINEAR, YARDSTICKS, is_linear, last_step
from heldout.results.study_record import Yardsticks
from heldout.search.search import Family, Search, build_candidates
from heldout.study.study import OUTER, Study, pose_evaluation
from heldout.task import Task
from heldout.task.arrays import as_pandas

MOST_ROWS = 2_000  # that tell which columns are worth fits of their own
MOST_SINGLE = 5  # columns that are fitted alone
LARGEST = 1e120
TOO_LARGE = "a number is infinite, or so large that its square is"
ONE_TEST_SET = "each further learner would look at the one test set again; use compare, or KFold"
NO_TABLE = "the columns are not those of a table, or there are several targets"


def pose_yardsticks(study: Study, task: Task, *, one_test_set: bool) -> Yardsticks:
    """Return the studies of all yardsticks on the test splits of a study, or why there are none."""
    own, studies, without = study.search.families, dict[str, tuple[Study, Task]](), dict[str, str]()
    if one_test_set:
        return Yardsticks(studies={}, without=dict.fromkeys(YARDSTICKS, ONE_TEST_SET))
    if study.search.tuned and len(own) == 1:
        studies["untuned learner"] = _pose({DEFAULTS: own[0].estimator}, study, task), task
    if task.container not in ("array", "pandas", "polars") or task.y.ndim > 1:
        return Yardsticks(studies=studies, without=dict.fromkeys((BOOSTING, PLAIN_LINEAR, COLUMN), NO_TABLE))
    if any("Boost" in type(last_step(family.estimator)[1]).__name__ for family in own):
        without[BOOSTING] = "boosting is among the learners"
    if all(is_linear(family.estimator) for family in own):
        without[PLAIN_LINEAR] = "the learner is linear itself"
    frame, classes = as_pandas(task.X), 0 if task.classes is None else len(task.classes)
    if not _is_moderate(frame) or not _is_moderate(pd.DataFrame({"y": task.y})):
        return Yardsticks(studies=studies, without=dict.fromkeys((BOOSTING, PLAIN_LINEAR, COLUMN), TOO_LARGE))
    known = {PLAIN_LINEAR: "logistic" if task.classification else "ridge", BOOSTING: "boosting"}
    try:
        table = survey_table(frame, classes=classes)
        named = {
            name: learner_named(learner, frame, classification=task.classification, table=table)[0]
            for name, learner in known.items()
        }
        single = _single_columns(task, frame, named[PLAIN_LINEAR].steps[-1][1], classes)
    except ColumnError as error:  # columns that the catalogue cannot prepare
        reason = str(error).splitlines()[0].rstrip(".")
        return Yardsticks(studies=studies, without=dict.fromkeys((BOOSTING, PLAIN_LINEAR, COLUMN), reason))
    learners = {name: learner for name, learner in named.items() if name not in without}
    if not single:
        without[COLUMN] = "there is one column"
    if learners := learners | single:
        posed = _pose(learners, study, task)
        studies["yardsticks"] = posed, replace(task, X=frame, columns=tuple(frame.columns))
    return Yardsticks(studies=studies, without=without)


def _is_moderate(frame: pd.DataFrame) -> bool:
    """Return whether sums of squares of all numbers are finite."""
    numbers = frame.select_dtypes("number").to_numpy(dtype=np.float64, na_value=np.nan)
    return not (np.abs(numbers) > LARGEST).any()


def _pose(learners: Mapping[str, Any], study: Study, task: Task) -> Study:
    """Pose the study of these learners, untuned, on the test splits and by the first loss of another study."""
    alone, losses = build_candidates(None, seed=0), study.reported[:1]
    families = tuple(Family(name=name, estimator=learner, candidates=alone) for name, learner in learners.items())
    search = Search(families=families, losses=losses, seed=study.search.seed)
    return pose_evaluation(search, task, study.splits[OUTER], reported=losses)


def _single_columns(task: Task, frame: pd.DataFrame, line: Any, classes: int) -> dict[str, Pipeline]:
    """Return a small tree and a line on each of the columns that tell most of the target by themselves."""
    columns = range(task.n_columns or 0)
    table = open_table(task, rows=min(MOST_ROWS, task.size), columns=columns, splits=None, given=False, seed=0)
    skills = np.array([skill_of(one, table.responses).value for one in table.columns])
    grow = DecisionTreeClassifier if task.classification else DecisionTreeRegressor
    learners: dict[str, Pipeline] = {}
    for place in np.argsort(-skills, kind="stable")[:MOST_SINGLE] if len(skills) > 1 else ():
        name = frame.columns[place]
        alone = survey_table(frame[[name]], classes=classes)
        if alone.columns:  # not an identifier
            named = f"{COLUMN} {name if task.columns is None else repr(name)}"
            tree = grow(max_leaf_nodes=16, min_samples_leaf=5)
            learners[named] = Pipeline([("only", prepare_columns(alone, UNSCALED)), ("tree", tree)])
            learners[f"{named} (linear)"] = Pipeline([("only", prepare_columns(alone, SCALED)), ("line", clone(line))])
    return learners
