"""The options that say what is asked: the same for every command that poses a study."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

import click

WRONG_USE, INCOMPLETE, INTERRUPTED = 2, 3, 130  # exit codes

# The catalogue itself imports scikit-learn, which --help must not.
LEARNERS = (
    "linear, ridge, lasso, elastic_net, logistic, lda, bayes, knn, tree, forest, extra_trees, boosting, svm, dummy, "
    "lightgbm, xgboost, catboost"
)
SPLITS = "kfold:5, kfold:5x3 (repeated), kfold:5:contiguous, loo, holdout:0.2, resample:20:0.2, forward:5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the user asked, as written on the command line."""

    data: str
    target: str
    learner: tuple[str, ...]
    test: str | None
    validation: str | None
    loss: tuple[str, ...]
    groups: str | None
    time: str | None
    weights: str | None
    drop: tuple[str, ...]
    type: tuple[str, ...]
    missing: str | None
    space: tuple[str, ...]
    allow_import: bool
    classification: bool | None  # None: to be seen from the target
    seed: int


_OPTIONS = (
    click.argument("data", type=click.Path()),
    click.option("--target", "-t", required=True, metavar="COLUMN", help="The column to predict."),
    click.option(
        "--learner",
        "-l",
        multiple=True,
        metavar="NAME",
        help=f"Which learners compete: {LEARNERS}; or all, which is each of scikit-learn that suits. Repeat it, or "
        "separate names by commas. One of your own is package.module:Name, with --allow-import. "
        "Default: logistic for classes, ridge for numbers.",
    ),
    click.option(
        "--space",
        multiple=True,
        metavar="LEARNER.PARAMETER=VALUES",
        help="The values to search: ridge.alpha=log:1e-6:1e2:17, lin:0:1:11, a list such as knn.n_neighbors=1,3,5, or "
        "fixed; forest=fixed searches nothing. Repeat it for several.",
    ),
    click.option("--allow-import", is_flag=True, help="Let --learner package.module:Name import code and run it."),
    click.option(
        "--test",
        metavar="SPLITS",
        help=f"The rows held out to estimate the risk: {SPLITS}. Default: kfold:5, with --time forward:5.",
    ),
    click.option(
        "--validation",
        metavar="SPLITS",
        help="The rows held out, within each training part, to choose a candidate: as for --test, or shared (the "
        "blocks of the test). Default: kfold:5, with --time forward:5.",
    ),
    click.option(
        "--loss",
        multiple=True,
        metavar="NAME",
        help="zero_one, squared, absolute, log, or any scoring name of scikit-learn. Repeat it for several: the first "
        "chooses, and is the risk. Default: zero_one for classes, squared for numbers.",
    ),
    click.option("--groups", metavar="COLUMN", help="Rows that belong together and must never be on two sides."),
    click.option("--time", metavar="COLUMN", help="When each row was seen: numbers or dates like 2024-01-31."),
    click.option("--weights", metavar="COLUMN", help="How much each row counts, in fits and in mean losses."),
    click.option("--drop", multiple=True, metavar="COLUMN", help="A column to leave out. Repeat it for several."),
    click.option(
        "--type",
        multiple=True,
        metavar="COLUMN=TYPE",
        help="What a column holds: number, category, text, date or identifier (which is left out). Repeat it for "
        "several. Default: seen from the values, and said.",
    ),
    click.option(
        "--missing",
        metavar="TEXTS",
        help='Texts that stand for a missing value besides an empty cell, such as "NA,?". Default: NA, NaN, null, None '
        "and their like in text files.",
    ),
    click.option(
        "--classification/--regression",
        default=None,
        help="Whether the target is classes or numbers. Default: seen from the target, and said.",
    ),
    click.option("--seed", type=int, default=0, show_default=True, help="Decides splits and all that is random."),
)


def asks_question(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a question, which reach it as one `Question`."""

    @wraps(command)
    def with_question(**values: Any) -> Any:
        asked = {name: values.pop(name) for name in Question.__dataclass_fields__}
        return command(Question(**asked), **values)

    for option in reversed(_OPTIONS):
        with_question = option(with_question)
    return with_question


def dask_backend(address: str) -> str:
    """A scheduler's address as written on the command line, in the form that ``backend=`` takes.

    >>> dask_backend("node-7:8786"), dask_backend("tcp://node-7:8786")
    ('dask://node-7:8786', 'dask://node-7:8786')
    """
    return "dask://" + address.removeprefix("dask://").removeprefix("tcp://")
