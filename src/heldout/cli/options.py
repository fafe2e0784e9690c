"""Declares the options of a question and of a run, each once: for the command line, study files and the docs.

A field of `Question` or `RunOptions` is an option. Its default is the default of the field, and its metadata say how
the command line and a study file write it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import partial, wraps
from typing import Any

import click
from click.core import ParameterSource

from heldout.base.errors import OptionError
from heldout.base.options import PRECISIONS, RACES, Options
from heldout.cli import study_file as toml
from heldout.cli.completion import LEARNERS, complete_columns, complete_learners, complete_splits
from heldout.cli.study_file import StudyFile, TomlKey

FINDINGS, WRONG_USE, INCOMPLETE, INTERRUPTED = 1, 2, 3, 130  # exit codes
UNREAD = 141  # exit code of a command whose output pipe was closed, as in shells
STUDY = "heldout.study"  # the key of the study file in click's context

SPLITS = "kfold:5, kfold:5x3 (repeated), kfold:5:contiguous, loo, holdout:0.2, resample:20:0.2, forward:5"
COMPETE = (
    f"Which learners compete: {LEARNERS}; all, which is each of scikit-learn that suits; or auto, a penalised linear "
    "model and boosting. Repeat it, or separate names by commas. One of your own is package.module:Name, with "
    "--allow-import. Default: auto."
)
CONTEND = (
    f"Which learners are compared, two or more: {LEARNERS}. Repeat it, or separate names by commas. Names joined by + "
    "are one contender that chooses between them, and so is all. One of your own is package.module:Name, with "
    "--allow-import."
)
SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)
_DEFAULTS = {spec.name: spec.default for spec in fields(Options)}
_HELD_OUT: dict[str, Any] = {"metavar": "SPLITS", "shell_complete": complete_splits, "key": toml.SPLITS}
_COLUMN: dict[str, Any] = {"metavar": "COLUMN", "shell_complete": complete_columns}
Command = Callable[..., Any]


def option(
    help: str, *, flags: tuple[str, ...] = (), default: Any = None, key: TomlKey | None = None, **of_click: Any
) -> Any:
    """Declare a field as an option: help, flags if not ``--name``, key in a study file, arguments of click."""
    return field(default=default, metadata={"help": help, "flags": flags, "key": key, "click": of_click})


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Holds what the user asked, as written on the command line or in a study file."""

    data: str = field(metadata={"key": toml.FILE})
    target: str | None = option("The column to predict.", flags=("--target", "-t"), key=toml.COLUMN, **_COLUMN)
    learner: tuple[str, ...] = option(
        COMPETE,
        flags=("--learner", "-l"),
        default=(),
        multiple=True,
        metavar="NAME",
        shell_complete=complete_learners,
        key=toml.LIST,
    )
    space: tuple[str, ...] = option(
        "The values to search: ridge.alpha=log:1e-6:1e2:17, lin:0:1:11, a list such as knn.n_neighbors=1,3,5, or "
        "fixed; forest=fixed searches nothing. Repeat it for several.",
        default=(),
        multiple=True,
        metavar="LEARNER.PARAMETER=VALUES",
        key=toml.SPACE,
    )
    allow_import: bool = option(
        "Let --learner package.module:Name import code and run it.", default=False, is_flag=True
    )
    test: str | None = option(
        f"The rows held out to estimate the risk: {SPLITS}. A benchmark's own: column:NAME (its marks test "
        "and train, or a fold a row), column:NAME=VALUE (the rows so marked), rows:FILE (row numbers counted from "
        "0, one a line), splits:FILE (splits that heldout saved). Default: kfold:5, with --time forward:5.",
        **_HELD_OUT,
    )
    validation: str | None = option(
        "The rows held out, within each training part, to choose a candidate: as for --test, or shared (the "
        "blocks of the test). Default: kfold:5, with --time forward:5.",
        **_HELD_OUT,
    )
    choose: str = option(
        "The candidate to choose: the best, or the simplest within one standard error of it.",
        default="best",
        show_default=True,
        type=click.Choice(["best", "one_se"]),
        key=toml.one_of("best", "one_se"),
    )
    buffer: str | None = option(
        "With --time: leave out training rows this near to held-out rows, at both levels: 7 (rows), 7d, 12h, "
        "or 3units where time is numbers.",
        metavar="DISTANCE",
        key=toml.DISTANCE,
    )
    embargo: str | None = option(
        "With --time: leave out so much more after held-out rows.", metavar="DISTANCE", key=toml.DISTANCE
    )
    loss: tuple[str, ...] = option(
        "accuracy, balanced_accuracy, auc, logloss, brier, f1, precision, recall, ap, mcc; rmse, mae, r2, mse, mape, "
        "pinball:0.9, poisson, gamma, tweedie:1.5; or any scoring name of scikit-learn. Repeat it for several: the "
        "first chooses, and is the risk. Default: zero_one for classes, squared for numbers.",
        default=(),
        multiple=True,
        metavar="NAME",
        key=toml.LIST,
    )
    positive: str | None = option(
        "The class that f1, precision, recall and ap speak of, where the target has two.",
        metavar="LABEL",
        key=toml.TEXT,
    )
    groups: str | None = option("Rows that belong together and must never be on two sides.", key=toml.COLUMN, **_COLUMN)
    time: str | tuple[str, ...] | None = option(
        "When each row was seen: numbers or dates like 2024-01-31. start:end, two columns, where an outcome "
        "spans an interval.",
        key=toml.TIME,
        **_COLUMN,
    )
    strata: str | None = option(
        "A column whose shares every part should have. Default: the classes.", key=toml.COLUMN, **_COLUMN
    )
    weights: str | None = option("How much each row counts, in fits and in mean losses.", key=toml.COLUMN, **_COLUMN)
    drop: tuple[str, ...] = option(
        "A column to leave out. Repeat it for several.", default=(), multiple=True, key=toml.LIST, **_COLUMN
    )
    type: tuple[str, ...] = option(
        "What a column holds: number, category, text, date or identifier (which is left out). Repeat it for "
        "several. Default: seen from the values, and said.",
        default=(),
        multiple=True,
        metavar="COLUMN=TYPE",
        key=toml.TYPES,
    )
    missing: str | None = option(
        'Texts that stand for a missing value besides an empty cell, such as "NA,?". Default: NA, NaN, null, '
        "None and their like in text files.",
        metavar="TEXTS",
        key=toml.MISSING,
    )
    missing_target: str = option(
        "What to do with rows without a target: refuse the table, or drop them, and say how many.",
        default="refuse",
        show_default=True,
        type=click.Choice(["refuse", "drop"]),
        key=toml.one_of("refuse", "drop"),
    )
    sep: str | None = option(
        "What separates columns in a text file: a character, or comma, semicolon, tab, bar. Default: seen from the "
        "first lines, and said.",
        metavar="CHARACTER",
        key=toml.TEXT,
    )
    decimal: str | None = option(
        "The decimal mark of numbers. Default: seen from the first lines, and said where it is a comma.",
        type=click.Choice([".", ","]),
        key=toml.one_of(".", ","),
    )
    encoding: str | None = option(
        "The encoding of a text file, such as cp1252 or utf-16. Default: seen from its bytes, and said.",
        metavar="NAME",
        key=toml.TEXT,
    )
    sheet: str | None = option("The sheet of an Excel workbook. Default: the first.", metavar="NAME", key=toml.TEXT)
    classification: bool | None = option(
        "Whether the target is classes or numbers. Default: seen from the target, and said.",
        flags=("--classification/--regression",),
        key=toml.TASK,
    )
    slices: tuple[str, ...] = option(
        "A column whose values make subgroups: the risk in each, with intervals that hold together. Numbers are cut at "
        "their quartiles. Repeat it for several.",
        default=(),
        multiple=True,
        key=toml.LIST,
        **_COLUMN,
    )
    importance: int | None = option(
        "Permute each column of the held-out rows of each fold so many times, and say how much worse the loss gets. "
        "The folds' predictors are fitted again for it.",
        metavar="REPEATS",
        type=click.IntRange(1),
        key=toml.COUNT,
    )
    level: float = option("The level of the intervals.", default=0.95, show_default=True, type=SHARE, key=toml.SHARE)
    interval: str | None = option("The method of the interval, such as wilson or bayle.", metavar="NAME", key=toml.TEXT)
    answer: str = option(
        "How much one test set tells, to look at it again honestly: full, value, rounded:0.01 or pass/fail:0.2.",
        default=_DEFAULTS["answer"],
        show_default=True,
        metavar="HOW",
        key=toml.TEXT,
    )
    pool: bool | None = option(
        "The loss or score of all held-out rows together, or the mean over folds. Left out: the mean over "
        "folds for losses and AUC, all rows together for R², RMSE, balanced accuracy, F1 and the like.",
        flags=("--pool/--no-pool",),
        key=toml.SWITCH,
    )
    precision: str = option(
        "How near to scikit-learn's own fits answers must be: the same bits, within rounding error, or "
        "leave-one-out approximated too.",
        default=_DEFAULTS["precision"],
        show_default=True,
        type=click.Choice(PRECISIONS),
        key=toml.one_of(*PRECISIONS),
    )
    race: str | None = option(
        "Drop candidates that cannot win before all their validation parts are fitted; exact never changes the choice.",
        type=click.Choice(RACES),
        key=toml.one_of(*RACES),
    )
    race_level: float = option(
        "How probable it may be that a race other than exact drops the candidate which would have been chosen.",
        default=_DEFAULTS["race_level"],
        show_default=True,
        type=SHARE,
        key=toml.SHARE,
    )
    seed: int = option(
        "Decides splits and all that is random.",
        default=0,
        show_default=True,
        type=click.IntRange(0, toml.SEEDS - 1),
        key=toml.SEED,
    )
    name: str | None = option("What to call the study, in reports and lists.", metavar="TEXT", key=toml.TEXT)
    study: StudyFile | None = None  # the file it was read from

    def called(self, name: str) -> str:
        """Return the option's name as the user wrote it, for errors: "--target", or "study.toml: target"."""
        if self.study is None or name not in self.study.asked:
            return "--" + name.replace("_", "-")
        return f"{self.study.path}: {name}"


SETTINGS = ("interval", "answer", "pool", "precision", "race", "race_level", "importance")  # those that `Options` holds
OF_A_FILE = ("missing", "sep", "decimal", "encoding", "sheet")  # how a table is read
_OF_A_STUDY = ("slices", "test", "validation", "choose", "buffer", "embargo", "name", *SETTINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Holds how the study is run, as written on the command line or in a study file. It changes no number."""

    jobs: int | None = option(
        "Worker processes; -1 for all cores. Default: all, where it pays.",
        flags=("--jobs", "-j"),
        type=int,
        key=toml.JOBS,
    )
    dask: str | None = option(
        "Do the fits on the Dask cluster whose scheduler listens there, as in node-7:8786.", metavar="ADDRESS"
    )
    journal: str | None = option(
        "Keep every finished answer in FILE. The same command goes on from there, or answers at once. "
        "Default: .heldout/journal.db.",
        metavar="FILE",
        type=click.Path(),
    )
    no_journal: bool = option("Keep nothing.", default=False, is_flag=True)
    anew: bool = option(
        "Where the journal holds the study unfinished with other data, begin anew.", default=False, is_flag=True
    )
    timeout: float | None = option(
        "End the study by then, with what it has.", metavar="SECONDS", type=float, key=toml.SECONDS
    )
    fit_timeout: float | None = option(
        "End a fit that takes longer; it counts as failed.", metavar="SECONDS", type=float, key=toml.SECONDS
    )
    fit_memory: str | None = option(
        "End a fit that takes more, such as 2GB; it counts as failed.", metavar="SIZE", key=toml.SIZE
    )


def keys_of(kind: type) -> dict[str, TomlKey]:
    """Return the keys of these options in a study file, each with the field that it sets."""
    return {
        spec.metadata["key"].key or spec.name: replace(spec.metadata["key"], field=spec.name)
        for spec in fields(kind)
        if spec.metadata.get("key") is not None
    }


def with_options(kind: type, command: Command, *, names: Any = None, help: Mapping[str, str] | None = None) -> Command:
    """Add the options of these fields to a command, in their order; `help` replaces the help of some."""
    for spec in reversed(fields(kind)):
        if "click" in spec.metadata and (names is None or spec.name in names):
            command = _click_option(spec, (help or {}).get(spec.name))(command)
    return command


def _click_option(spec: Field[Any], help: str | None) -> Callable[[Command], Command]:
    flags = spec.metadata["flags"] or (f"--{spec.name.replace('_', '-')}",)
    given = dict(spec.metadata["click"])
    if "show_default" in given or "/" in flags[0]:
        given["default"] = spec.default
    return click.option(*flags, spec.name, help=help or spec.metadata["help"], **given)


def question_options(command: Command, *, names: Any = None, help: Mapping[str, str] | None = None) -> Command:
    """Add the options of a question to a command, which receives them as one `Question`.

    With `names`, only these are added; the command then takes `level` as well, and its question is None without data.
    """

    @wraps(command)
    def with_question(data: str | None, **values: Any) -> Any:
        ctx = click.get_current_context()
        given = {spec.name: values.pop(spec.name) for spec in fields(Question) if spec.name in values}
        if names is not None:
            values["level"] = given["level"]
        if data is not None:
            return command(_question(ctx, {"data": data, **given}), **values)
        for name in given:
            if name != "level" and is_given(ctx, name):
                raise OptionError(f"--{name.replace('_', '-')} speaks of a table, and none is named. Name it: DATA.")
        return command(None, **values)

    described = with_options(Question, with_question, names=names, help=help)
    return click.argument("data", type=click.Path(), required=names is None)(described)


contender_options = partial(question_options, help={"learner": CONTEND})  # here learners are compared, not chosen from
data_options = partial(
    question_options,
    names=[spec.name for spec in fields(Question) if "click" in spec.metadata and spec.name not in _OF_A_STUDY],
)


def _question(ctx: click.Context, given: dict[str, Any]) -> Question:
    """Return the question. The command line overrides the study file, which overrides the defaults."""
    if not toml.is_study_file(given["data"]):
        return Question(**given)
    study = toml.read_study(given["data"], question=keys_of(Question), run=keys_of(RunOptions))
    ctx.meta[STUDY] = study
    if "data" not in study.asked:
        raise click.UsageError(f'{study.path} names no data. Write data = "table.csv" into it.')
    in_file = {name: value for name, value in study.asked.items() if name == "data" or not is_given(ctx, name)}
    return Question(**{**given, **in_file}, study=replace(study, asked=in_file))


def is_given(ctx: click.Context, name: str) -> bool:
    """Check whether an option was given on the command line."""
    return ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE


def question_words(question: Question) -> list[str]:
    """Return the options that ask this question, without its data, its splits and what its study file says.

    >>> question_words(Question(data="a.csv", target="y", learner=("ridge", "knn"), classification=False, seed=3))
    ['--target', 'y', '--learner', 'ridge', '--learner', 'knn', '--regression', '--seed', '3']
    """
    in_the_file = () if question.study is None else tuple(question.study.asked)
    words: list[str] = []
    for spec in fields(question):
        name, value = spec.name, getattr(question, spec.name)
        if "click" not in spec.metadata or name in ("test", "validation", *in_the_file) or value == spec.default:
            continue
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            no_flag = spec.metadata["flags"][0].partition("/")[2] if spec.metadata["flags"] else ""
            words.append(flag if value else no_flag)
        elif name == "time" and not isinstance(value, str):
            words += [flag, ":".join(value)]
        else:
            words += [word for each in (value if isinstance(value, tuple) else [value]) for word in (flag, str(each))]
    return words
