"""The rules of the house, for every file in it. Each test shows all offenders at once."""

from __future__ import annotations

import ast
import doctest
import importlib
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import heldout
from heldout.base.registered import PUBLIC, REGISTERED

SOURCE = Path(heldout.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = sorted(path.parent for path in FILES if path.name == "__init__.py")
BELOW_ENGINE = ("base", "task", "risk", "losses", "splits", "search", "study", "kernels", "planner")
FORBIDDEN_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc"}
GLOBAL_CHANCE = re.compile(
    r"(np|numpy)\.random\.(?!default_rng|Generator|RandomState|SeedSequence|Philox|PCG64)\w+|random\.\w+"
)


def name(path: Path) -> str:
    return str(path.relative_to(SOURCE))


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0]


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions() -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    for path in FILES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield f"{name(path)}:{node.lineno} {node.name}", node


def calls(*rooms: str) -> Iterator[tuple[str, ast.Call]]:
    """Every call in these rooms, with its place."""
    for path in FILES:
        if room_of(path) in rooms:
            for node in ast.walk(tree_of(path)):
                if isinstance(node, ast.Call):
                    yield f"{name(path)}:{node.lineno}", node


def test_the_house_was_found():
    assert len(FILES) > 50
    rooms = {*BELOW_ENGINE, "engine", "report", "api", "cli"}
    assert rooms <= {room.name for room in ROOMS}


def test_no_file_is_longer_than_400_lines():
    lines = {name(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {path: count for path, count in lines.items() if count > 400} == {}


def test_no_function_is_longer_than_80_lines():
    lines = {place: (node.end_lineno or 0) - node.lineno + 1 for place, node in functions()}
    assert {place: count for place, count in lines.items() if count > 80} == {}


def test_no_function_takes_more_than_five_positional_parameters():
    counts = {}
    for place, node in functions():
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        counts[place] = len([argument for argument in names if argument not in ("self", "cls")])
    assert {place: count for place, count in counts.items() if count > 5} == {}


def test_every_file_and_every_room_says_what_it_is_for():
    assert [name(path) for path in FILES if not ast.get_docstring(tree_of(path))] == []


def test_names_explain_themselves():
    assert [name(path) for path in FILES if FORBIDDEN_NAMES & {path.stem, path.parent.name}] == []


def test_nothing_is_printed_outside_the_command():
    rooms = {room_of(path) for path in FILES} - {"cli"}
    assert [place for place, call in calls(*rooms) if ast.unparse(call.func) == "print"] == []


def test_nothing_is_left_to_do():
    marks = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    assert [name(path) for path in FILES if marks.search(path.read_text(encoding="utf-8"))] == []


def test_below_the_engine_there_is_no_global_chance_no_file_and_no_environment():
    effects = ("open", "time.time", "os.environ.get", "os.getenv")
    found = []
    for place, call in calls(*BELOW_ENGINE):
        function = ast.unparse(call.func)
        unseeded = function.endswith("default_rng") and not call.args
        if unseeded or function in effects or GLOBAL_CHANCE.fullmatch(function):
            found.append(f"{place} {ast.unparse(call)}")
    assert found == []


def run(program: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_importing_heldout_imports_nothing_heavy():
    heavy = ("numpy", "sklearn", "scipy", "pandas", "narwhals", "joblib", "rich")
    assert run(f"import sys, heldout; print([name for name in {heavy} if name in sys.modules])") == "[]"


@pytest.mark.parametrize("public", heldout.__all__)
def test_every_public_name_is_there_and_documented(public: str):
    thing = getattr(heldout, public)
    assert thing.__doc__
    assert thing.__module__ == "heldout" if isinstance(thing, type) else thing.__module__.startswith("heldout.")
    assert public in dir(heldout)


HOMES = {**PUBLIC, **REGISTERED}
CLASSES = sorted(name for name in HOMES if isinstance(getattr(heldout, name), type))


@pytest.mark.parametrize("registered", CLASSES)
def test_registered_classes_are_pickled_and_named_by_their_short_name(registered: str):
    kind = getattr(heldout, registered)
    assert f"{kind.__module__}.{kind.__qualname__}" == f"heldout.{registered}"
    assert pickle.loads(pickle.dumps(kind)) is kind


@pytest.mark.parametrize("registered", CLASSES)
def test_examples_of_registered_classes_are_right(registered: str):
    """Doctests that are collected by file leave out classes that say they are of another one."""
    kind = getattr(heldout, registered)
    names = vars(importlib.import_module(HOMES[registered]))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for example in doctest.DocTestFinder().find(kind, registered, module=False, globs=dict(names)):
        assert runner.run(example).failed == 0


def test_names_that_are_not_built_are_absent():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = heldout.nonsense


def test_public_names_are_sorted_and_each_has_a_home():
    assert heldout.__all__ == sorted(heldout.__all__)
    assert set(heldout.__all__) == set(PUBLIC)


TESTS = Path(__file__).parent
# Tests that still reach for a private name. The list may only shrink: a name goes when its room is rebuilt.
STILL_PRIVATE: set[tuple[str, str]] = set()
# The same words in scikit-learn and in the example of the docs, which are not the house's.
NOT_OURS = {
    ("models/test_model_files_of_strangers.py", "_tree"),
    ("contracts/test_the_example_kernel.py", "_total"),
    ("backends/test_threads.py", "_fit"),
}
PATCHING = ("setattr", "delattr", "getattr", "patch", "patch.object")
# Names that others give a meaning to: namedtuple's, and the hooks that notebooks call.
SPOKEN_ELSEWHERE = {"_replace", "_repr_html_", "_repr_mimebundle_"}


def is_private(name: str) -> bool:
    return bool(name.strip("_")) and name.startswith("_") and not name.startswith("__") and name not in SPOKEN_ELSEWHERE


def defined_in(tree: ast.Module) -> Iterator[str]:
    """The names that a file defines: functions, classes, variables and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def spoken_in(tree: ast.Module) -> Iterator[str]:
    """The names that a file imports from heldout, reads off something, or patches."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "heldout":
            yield from (part for alias in node.names for part in f"{node.module}.{alias.name}".split("."))
        elif isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls"):
            yield node.attr
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(PATCHING):
            texts = (one.value for one in node.args[:2] if isinstance(one, ast.Constant))
            yield from (text.rpartition(".")[2] for text in texts if isinstance(text, str))


def test_tests_name_nothing_private_of_the_house():
    """Whoever rebuilds a room may change its private names: a test that patches one would break, or say nothing."""
    ours = {one for path in FILES for one in defined_in(tree_of(path)) if is_private(one)}
    found = set()
    for path in sorted(set(TESTS.rglob("*.py")) - {Path(__file__)}):
        own = set(defined_in(tree_of(path)))
        names = {one for one in spoken_in(tree_of(path)) if is_private(one)}
        found |= {(path.relative_to(TESTS).as_posix(), one) for one in (names & ours) - own}
    assert sorted(found - STILL_PRIVATE - NOT_OURS) == []
    assert sorted(STILL_PRIVATE - found) == [], "these are private no more: take them off the list"


def test_the_map_in_contributing_names_what_is_there():
    page = (SOURCE.parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    hops = re.findall(r"`(\w+/\w+\.py): (\w+)`", page)
    assert 8 <= len(hops) <= 12
    for place, function in hops:
        nodes = {node.name for node in tree_of(SOURCE / place).body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
        assert function in nodes, f"{place} has no {function}"
    paths = re.findall(r"`((?:\w+/)+(?:\w+\.py)?)`", page)
    assert [
        path
        for path in paths
        if not (SOURCE / path).exists() and not path.startswith(("tests", "docs", "src", "benchmarks"))
    ] == []


def test_extending_names_files_that_are_there():
    root = SOURCE.parents[1]
    page = (root / "docs" / "extending.md").read_text(encoding="utf-8")
    paths = [path for path in re.findall(r"`((?:\w+/)+(?:\w+\.(?:py|md))?)`", page) if "/" in path.rstrip("/")]
    missing = [path for path in paths if not (SOURCE / path).exists() and not (root / path).exists()]
    assert missing == []
    assert len(paths) > 15
