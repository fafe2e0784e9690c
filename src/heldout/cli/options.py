"""The options that say what is asked: the same for every command that poses a study, and in a study file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from heldout.base.errors import OptionError
from heldout.base.options import PRECISIONS, RACES
from heldout.cli.completing import complete_columns, complete_learners, complete_splits
from heldout.cli.study_file import SEEDS, StudyFile, is_study_file, read_study

FINDINGS, WRONG_USE, INCOMPLETE, INTERRUPTED = 1, 2, 3, 130  # exit codes
UNREAD = 141  # as a shell tells of a command that a closed pipe ended
STUDY = "heldout.study"  # where a command keeps the study file it was given

# The catalogue itself imports scikit-learn, which --help must not.
LEARNERS = (
    "linear, ridge, lasso, elastic_net, logistic, lda, bayes, knn, tree, forest, extra_trees, boosting, svm, dummy, "
    "lightgbm, xgboost, catboost"
)
SPLITS = "kfold:5, kfold:5x3 (repeated), kfold:5:contiguous, loo, holdout:0.2, resample:20:0.2, forward:5"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What the user asked, as written on the command line or in a study file."""

    data: str
    target: str | None
    learner: tuple[str, ...] = ()
    space: tuple[str, ...] = ()
    allow_import: bool = False
    test: str | None = None
    validation: str | None = None
    choose: str = "best"
    buffer: str | None = None
    embargo: str | None = None
    loss: tuple[str, ...] = ()
    groups: str | None = None
    time: str | tuple[str, ...] | None = None
    strata: str | None = None
    weights: str | None = None
    drop: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    missing: str | None = None
    classification: bool | None = None  # None: to be seen from the target
    level: float = 0.95
    interval: str | None = None
    answer: str = "full"
    pool: bool | None = None
    precision: str = "rounding"
    race: str | None = None
    race_level: float = 0.05
    seed: int = 0
    study: StudyFile | None = None  # the file it was read from

    def called(self, name: str) -> str:
        """How the user said this, for errors: "--target", or where the study file says it."""
        if self.study is None or name not in self.study.asked:
            return "--" + name.replace("_", "-")
        return f"{self.study.place(name)}: {name}"


SETTINGS = ("interval", "answer", "pool", "precision", "race", "race_level")  # which `Options` holds
_OF_A_RUN = ("test", "validation", "choose", "buffer", "embargo", *SETTINGS)
_COMPETE = (
    f"Which learners compete: {LEARNERS}; or all, which is each of scikit-learn that suits. Repeat it, or "
    "separate names by commas. One of your own is package.module:Name, with --allow-import. "
    "Default: logistic for classes, ridge for numbers."
)
_CONTEND = (
    f"Which learners are compared, two or more: {LEARNERS}. Repeat it, or separate names by commas. Names joined by + "
    "are one contender that chooses between them, and so is all. One of your own is package.module:Name, with "
    "--allow-import."
)


def _options(learner_help: str) -> dict[str, Callable[[Any], Any]]:
    column: dict[str, Any] = {"metavar": "COLUMN", "shell_complete": complete_columns}
    return {
        "data": click.argument("data", type=click.Path()),
        "target": click.option("--target", "-t", help="The column to predict.", **column),
        "learner": click.option(
            "--learner",
            "-l",
            multiple=True,
            metavar="NAME",
            help=learner_help,
            shell_complete=complete_learners,
        ),
        "space": click.option(
            "--space",
            multiple=True,
            metavar="LEARNER.PARAMETER=VALUES",
            help="The values to search: ridge.alpha=log:1e-6:1e2:17, lin:0:1:11, a list such as "
            "knn.n_neighbors=1,3,5, or fixed; forest=fixed searches nothing. Repeat it for several.",
        ),
        "allow_import": click.option(
            "--allow-import", is_flag=True, help="Let --learner package.module:Name import code and run it."
        ),
        "test": click.option(
            "--test",
            metavar="SPLITS",
            shell_complete=complete_splits,
            help=f"The rows held out to estimate the risk: {SPLITS}. A benchmark's own: column:NAME (its marks test "
            "and train, or a fold a row), column:NAME=VALUE (the rows so marked), rows:FILE (row numbers counted from "
            "0, one a line), splits:FILE (splits that heldout saved). Default: kfold:5, with --time forward:5.",
        ),
        "validation": click.option(
            "--validation",
            metavar="SPLITS",
            shell_complete=complete_splits,
            help="The rows held out, within each training part, to choose a candidate: as for --test, or shared (the "
            "blocks of the test). Default: kfold:5, with --time forward:5.",
        ),
        "choose": click.option(
            "--choose",
            type=click.Choice(["best", "one_se"]),
            default="best",
            show_default=True,
            help="The candidate to choose: the best, or the simplest within one standard error of it.",
        ),
        "buffer": click.option(
            "--buffer",
            metavar="DISTANCE",
            help="With --time: leave out training rows this near to held-out rows, at both levels: 7 (rows), 7d, 12h, "
            "or 3units where time is numbers.",
        ),
        "embargo": click.option(
            "--embargo", metavar="DISTANCE", help="With --time: leave out so much more after held-out rows."
        ),
        "loss": click.option(
            "--loss",
            multiple=True,
            metavar="NAME",
            help="zero_one, log, brier, squared, absolute, poisson, gamma, pinball:0.9, tweedie:1.5, or any scoring "
            "name of scikit-learn. Repeat it for several: the first chooses, and is the risk. Default: zero_one for "
            "classes, squared for numbers.",
        ),
        "groups": click.option("--groups", help="Rows that belong together and must never be on two sides.", **column),
        "time": click.option(
            "--time",
            help="When each row was seen: numbers or dates like 2024-01-31. start:end, two columns, where an outcome "
            "spans an interval.",
            **column,
        ),
        "strata": click.option(
            "--strata", help="A column whose shares every part should have. Default: the classes.", **column
        ),
        "weights": click.option("--weights", help="How much each row counts, in fits and in mean losses.", **column),
        "drop": click.option("--drop", multiple=True, help="A column to leave out. Repeat it for several.", **column),
        **_reading(),
        **_numbers(),
    }


def _reading() -> dict[str, Callable[[Any], Any]]:
    return {
        "type": click.option(
            "--type",
            multiple=True,
            metavar="COLUMN=TYPE",
            help="What a column holds: number, category, text, date or identifier (which is left out). Repeat it for "
            "several. Default: seen from the values, and said.",
        ),
        "missing": click.option(
            "--missing",
            metavar="TEXTS",
            help='Texts that stand for a missing value besides an empty cell, such as "NA,?". Default: NA, NaN, null, '
            "None and their like in text files.",
        ),
        "classification": click.option(
            "--classification/--regression",
            default=None,
            help="Whether the target is classes or numbers. Default: seen from the target, and said.",
        ),
    }


def _numbers() -> dict[str, Callable[[Any], Any]]:
    return {
        "level": click.option(
            "--level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.95,
            show_default=True,
            help="The level of the intervals.",
        ),
        "interval": click.option(
            "--interval", metavar="NAME", help="The method of the interval, such as wilson or bayle."
        ),
        "answer": click.option(
            "--answer",
            metavar="HOW",
            default="full",
            show_default=True,
            help="How much one test set tells, to look at it again honestly: full, value, rounded:0.01 or "
            "pass/fail:0.2.",
        ),
        "pool": click.option(
            "--pool/--no-pool",
            default=None,
            help="The loss or score of all held-out rows together, or the mean over folds. Left out: the mean over "
            "folds for losses and AUC, all rows together for R², RMSE, balanced accuracy, F1 and the like.",
        ),
        "precision": click.option(
            "--precision",
            type=click.Choice(PRECISIONS),
            default="rounding",
            show_default=True,
            help="How near to scikit-learn's own fits answers must be: the same bits, within rounding error, or "
            "leave-one-out approximated too.",
        ),
        "race": click.option(
            "--race",
            type=click.Choice(RACES),
            help="Drop candidates that cannot win before all their validation parts are fitted; exact never changes "
            "the choice.",
        ),
        "race_level": click.option(
            "--race-level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.05,
            show_default=True,
            help="How probable it may be that a race other than exact drops the candidate which would have been "
            "chosen.",
        ),
        "seed": click.option(
            "--seed",
            type=click.IntRange(0, SEEDS - 1),
            default=0,
            show_default=True,
            help="Decides splits and all that is random.",
        ),
    }


def asks_question(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a question, which reach it as one `Question`; learners compete."""
    return _asks(command, _COMPETE)


def asks_contenders(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a command that compares learners."""
    return _asks(command, _CONTEND)


def asks_of_data(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that describe data and learners, for one that can do without data: then it is None."""
    known = _options(_COMPETE)
    names = [name for name in known if name not in ("data", *_OF_A_RUN)]

    @wraps(command)
    def with_question(data: str | None, **values: Any) -> Any:
        ctx = click.get_current_context()
        asked = {"data": data, **{name: values.pop(name) for name in names}}
        if data is not None:
            return command(_question(ctx, asked), level=asked["level"], **values)
        for name in names:
            if name != "level" and is_said(ctx, name):
                raise OptionError(f"--{name.replace('_', '-')} speaks of a table, and none is named. Name it: DATA.")
        return command(None, level=asked["level"], **values)

    for name in reversed(names):
        with_question = known[name](with_question)
    return click.argument("data", type=click.Path(), required=False)(with_question)


def _asks(command: Callable[..., Any], learner_help: str) -> Callable[..., Any]:
    @wraps(command)
    def with_question(**values: Any) -> Any:
        asked = {name: values.pop(name) for name in Question.__dataclass_fields__ if name != "study"}
        return command(_question(click.get_current_context(), asked), **values)

    for option in reversed(_options(learner_help).values()):
        with_question = option(with_question)
    return with_question


def _question(ctx: click.Context, asked: dict[str, Any]) -> Question:
    """What was asked: the command line first, then the study file, then the defaults."""
    if not is_study_file(asked["data"]):
        return Question(**asked)
    study = read_study(asked["data"])
    ctx.meta[STUDY] = study
    if "data" not in study.asked:
        raise click.UsageError(f'{study.path} names no data. Write data = "table.csv" into it.')
    said = [name for name in asked if name != "data" and is_said(ctx, name)]
    return Question(**{**asked, **study.asked, **{name: asked[name] for name in said}}, study=_rest(study, said))


def asked_words(question: Question) -> list[str]:
    """The options that ask this question, without its data and what its study file says; splits are left to others.

    >>> asked_words(Question(data="a.csv", target="y", learner=("ridge", "knn"), classification=False, seed=3))
    ['--target', 'y', '--learner', 'ridge', '--learner', 'knn', '--regression', '--seed', '3']
    """
    in_the_file = () if question.study is None else tuple(question.study.asked)
    words: list[str] = []
    for field in fields(question):
        name, value = field.name, getattr(question, field.name)
        if name in ("data", "study", "test", "validation", *in_the_file) or value == field.default:
            continue
        option = "--" + name.replace("_", "-")
        if name == "classification":
            words.append(option if value else "--regression")
        elif value is True:
            words.append(option)
        elif name == "time" and not isinstance(value, str):
            words += [option, ":".join(value)]
        else:
            words += [part for one in (value if isinstance(value, tuple) else [value]) for part in (option, str(one))]
    return words


def is_said(ctx: click.Context, name: str) -> bool:
    """Whether an option was given on the command line."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _rest(study: StudyFile, said: list[str]) -> StudyFile:
    """The study file without what the command line says in its place."""
    kept = {name: value for name, value in study.asked.items() if name not in said}
    return StudyFile(path=study.path, asked=kept, run=study.run, lines=study.lines)


def dask_backend(address: str) -> str:
    """A scheduler's address as written on the command line, in the form that ``backend=`` takes.

    >>> dask_backend("node-7:8786"), dask_backend("tcp://node-7:8786")
    ('dask://node-7:8786', 'dask://node-7:8786')
    """
    return "dask://" + address.removeprefix("dask://").removeprefix("tcp://")
