"""The rules of the house, for every file in it. Each test shows all offenders at once."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import heldout

SOURCE = Path(heldout.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
ROOMS = sorted(path.parent for path in FILES if path.name == "__init__.py")
BELOW_ENGINE = ("base", "task", "risk", "splits", "study", "kernels", "planner")
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
    assert thing.__module__.startswith("heldout.")
    assert public in dir(heldout)


def test_names_that_are_not_built_are_absent():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = heldout.nonsense


def test_public_names_are_sorted_and_each_has_a_home():
    assert heldout.__all__ == sorted(heldout.__all__)
    assert set(heldout.__all__) == set(heldout._HOMES)
