"""Every golden study, signature and exit code is what golden.json says; where not, the paths that differ are shown.

Where a change is meant: `python tests/golden/make.py`, and the difference of golden.json is part of the commit.
"""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from golden import make, store
from golden.compare import differences
from golden.ground import STUDIES
from golden.make import study_seen, surface_seen

MOST = 25  # lines of differences that are shown
DRAWN = [name for name, study in STUDIES.items() if study.drawn]


@cache
def golden() -> dict[str, Any]:
    return store.read()


def told(lines: list[str]) -> str:
    """The differences, and the libraries that are not those of the golden file: a likely cause."""
    now, then = make.versions(), golden()["made_with"]
    other = [
        f"{name} is {now[name]}, golden.json was made with {then[name]}" for name in now if now[name] != then[name]
    ]
    more = [f"… and {len(lines) - MOST} more"] if len(lines) > MOST else []
    return "\n".join([f"{len(lines)} differences", *lines[:MOST], *more, *other])


def of_study(name: str, got: Any) -> list[str]:
    study = STUDIES[name]
    return list(differences(golden()["studies"][name], got, near=study.near, exact=study.exact))


@pytest.mark.parametrize("name", STUDIES)
def test_the_study_is_as_it_was(name: str, tmp_path: Path) -> None:
    assert not (lines := of_study(name, study_seen(STUDIES[name], tmp_path))), told(lines)


def test_names_commands_and_exit_codes_are_as_they_were(tmp_path: Path) -> None:
    lines = [
        line for part, got in surface_seen(tmp_path) for line in differences(golden()[part], got, near=1e-9, path=part)
    ]
    assert not lines, told(lines)


def test_every_study_is_pinned() -> None:
    assert set(golden()["studies"]) == set(STUDIES)


@pytest.mark.parametrize("how", [{"jobs": 2}, {"jobs": 2, "backend": "processes"}], ids=["two jobs", "processes"])
@pytest.mark.parametrize("name", DRAWN)
def test_the_same_bits_however_it_is_run(name: str, how: dict[str, Any], tmp_path: Path) -> None:
    """Compared with one job in the same run, where processor and libraries are the same: not a bit may differ."""
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    one = study_seen(STUDIES[name], tmp_path / "one")
    other = study_seen(STUDIES[name], tmp_path / "other", **how)
    assert not (lines := list(differences(one, other, near=0.0, exact=True))), told(lines)


# Rules of the tier `identical` that each of these studies uses.
IDENTICAL = {
    "neighbours": "neighbours",
    "neighbours_leave_one_out": "neighbours",
    "shared_blocks": "share_fits",
    "path_forest": "within",
    "path_pruning": "within",
    "path_hist_boosting": "within",
    "pipeline_prefixes": "within",
}


@pytest.mark.parametrize("name", IDENTICAL)
def test_identical_rules_give_the_bits_of_brute_force(name: str, tmp_path: Path) -> None:
    rule = IDENTICAL[name]
    on = study_seen(STUDIES[name], tmp_path)
    off = study_seen(STUDIES[name], tmp_path, rules={rule: False})
    assert rule in [one["name"] for one in on["summary"]["plan"]["used"]]
    assert rule not in [one["name"] for one in off["summary"]["plan"]["used"]]
    pairs = [(on["summary"][part], off["summary"][part]) for part in ("folds", "choices")]
    pairs += [(on["summary"]["estimates"]["risk"], off["summary"]["estimates"]["risk"])]
    pairs += [(on[part], off[part]) for part in ("predictions", "final", "candidates")]
    lines = [line for one, other in pairs for line in differences(one, other, near=0.0, exact=True)]
    assert not lines, told(lines)


# Rules of the tier `rounding`, which brute force gives to nine digits.
ROUNDING = {
    "ridge": ["nested_kfold", "ridge_classifier", "ridge_wide", "least_squares", "ridge_inside_leave_one_out"],
    "smoothers": ["kernel_ridge", "gaussian_process"],
    "bayes": ["bayes_gaussian", "bayes_multinomial", "bayes_complement", "bayes_bernoulli", "bayes_leave_one_out"],
    "discriminants": ["quadratic_discriminants"],
    "pls": ["partial_least_squares"],
}


@pytest.mark.parametrize(("rule", "name"), [(rule, name) for rule, names in ROUNDING.items() for name in names])
def test_the_kernel_answered_and_brute_force_agrees(rule: str, name: str, tmp_path: Path) -> None:
    """That the kernel answered is part of it: after a failed check all is brute force, and agrees with itself."""
    on = study_seen(STUDIES[name], tmp_path)
    off = study_seen(STUDIES[name], tmp_path, rules={rule: False})
    assert {line["rule"].split(",")[0] for line in on["summary"]["plan"]["lines"]} == {rule}
    assert all(check["passed"] for check in on["summary"]["plan"]["checks"])
    assert rule not in {line["rule"] for line in off["summary"]["plan"]["lines"]}
    pairs = [(on["summary"][part], off["summary"][part]) for part in ("folds", "choices")]
    pairs += [(on[part], off[part]) for part in ("predictions", "final")]
    lines = [line for one, other in pairs for line in differences(one, other, near=1e-9)]
    assert not lines, told(lines)


# The net itself.


def leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        return [leaf for key, one in items for leaf in leaves(one, (*path, key))]
    return [path]


def changed(value: Any, place: tuple[Any, ...]) -> Any:
    """A copy with one leaf changed: a number by a ten-thousandth, anything else to another value."""
    made = copy.deepcopy(value)
    at = made
    for key in place[:-1]:
        at = at[key]
    old = at[place[-1]]
    at[place[-1]] = old * 1.0001 + 1e-6 if type(old) is float else "changed" if isinstance(old, str) else f"not {old}"
    return made


def test_the_net_can_fail() -> None:
    """Every single leaf of one study, changed by itself, is a difference with its path; nothing changed is none."""
    pinned = golden()["studies"]["nested_kfold"]
    assert of_study("nested_kfold", pinned) == []
    places = leaves(pinned)
    assert len(places) > 300
    for place in places:
        lines = of_study("nested_kfold", changed(pinned, place))
        if place[-1] == "operations":  # pinned to a factor of ten
            assert lines == []
        else:
            assert len(lines) == 1, place
            assert str(place[-1]) in lines[0]


def test_a_last_bit_is_seen_where_bits_are_pinned() -> None:
    pinned = golden()["studies"]["holdout"]
    made = copy.deepcopy(pinned)
    value = made["summary"]["estimates"]["risk"]["value"]
    made["summary"]["estimates"]["risk"]["value"] = value * (1 + 2**-52)
    assert of_study("holdout", made) == [
        f"summary.estimates.risk.value: wanted {value!r}, got {value * (1 + 2**-52)!r}"
    ]
    assert list(differences(pinned, made, near=1e-9)) == []


def test_what_is_lacking_or_new_is_seen() -> None:
    assert list(differences({"a": [1, 2]}, {"a": [1], "b": 1.0}, near=1e-9)) == [
        "a: wanted 2 of them, [1, 2], got 1, [1]",
        "b: wanted nothing, got 1.0",
    ]
    assert list(differences({"a": None}, {}, near=1e-9)) == ["a: wanted null, got nothing"]
    assert list(differences({"a": 1}, {"a": 1.0}, near=1e-9)) == ["a: wanted 1, got 1.0"]


def test_the_golden_file_is_written_as_it_is_read(tmp_path: Path) -> None:
    store.write(golden(), tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == store.PATH.read_bytes()
