"""Checks draw cells of every kernel and level, test cells first, as many as the plan's operations pay for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor

import heldout as ho
from heldout.base.responses import METHODS, Responses
from heldout.kernels.driver import driver
from heldout.kernels.within import answer as within
from heldout.planner import checked_cells

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = X[:, 0] + RNG.normal(size=120)
LABELS = np.where(Y > 0, 2, 1)
ALPHAS = {"alpha": [0.1, 1.0, 10.0]}
SMOOTHINGS = {"var_smoothing": [1e-9, 1e-3, 1e-1]}
PLACES = {"ridge": driver, "bayes": driver}  # by kernel: the module that hands its responses over to be scored
LEARNERS = {
    "ridge": (Ridge(), Y, "ridge"),
    "bayes": (GaussianNB(), LABELS, "bayes"),
    "nested ridge": (ho.Tuned(Ridge(), ALPHAS, validation=ho.KFold(4)), Y, "ridge"),
    "nested bayes": (ho.Tuned(GaussianNB(), SMOOTHINGS, validation=ho.KFold(4)), LABELS, "bayes"),
}


def study(learner: Any, y: Any = Y, *, data: Any = X, **more: Any) -> ho.Result:
    return ho.evaluate(learner, data, y, **{"test": ho.KFold(5), "jobs": 1, "progress": False, **more})


def wrong_where(
    monkeypatch: pytest.MonkeyPatch, kernel: str, is_wrong: Callable[[Any], bool], *, factor: int = 2
) -> None:
    """Multiply the responses of a kernel in those of its blocks."""
    own = PLACES[kernel].score_block

    def score(work: Any, helds: Any, candidates: Any, responses: Any, **more: Any) -> Any:
        if is_wrong(helds):
            responses = [_times(factor, one) for one in responses]
        return own(work, helds, candidates, responses, **more)

    monkeypatch.setattr(PLACES[kernel], "score_block", score)


def _times(factor: int, responses: Responses) -> Responses:
    found = {method: getattr(responses, method) for method in METHODS}
    wrong = {method: None if one is None else factor * one for method, one in found.items()}
    return Responses(**wrong, classes=responses.classes)


def counts(result: ho.Result) -> Counter[tuple[str, str]]:
    return Counter((check["kernel"], check["level"]) for check in result.record.plan["checks"])


def at_test_level(helds: Any) -> bool:
    return bool(helds[0].level == "test")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("name", LEARNERS)
def test_a_kernel_that_is_wrong_at_test_level_alone_is_always_found(
    name: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, y, kernel = LEARNERS[name]
    right = study(learner, y, seed=seed, options=ho.Options(rules={kernel: False}))
    wrong_where(monkeypatch, kernel, at_test_level)
    result = study(learner, y, seed=seed)
    assert [finding.code for finding in result.findings if finding.code < "H7" and finding.code != "H301"] == ["H205"]
    assert np.array_equal(result.predictions["predict"], right.predictions["predict"])
    assert result.risk.value == right.risk.value
    assert result.choices.equals(right.choices)


@pytest.mark.parametrize("jobs", [1, 2])
def test_choices_that_saw_a_wrong_kernel_are_made_again(jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Validation cells that nobody checked are wrong in a way that turns the choice round; a test cell tells."""
    learner = ho.Tuned(Ridge(), {"alpha": [1e-3, 1e6]}, validation=ho.KFold(4))
    right = study(learner, options=ho.Options(rules={"ridge": False}))
    assert set(right.choices["candidate"]) == {0}
    wrong_where(monkeypatch, "ridge", lambda helds: True, factor=-1)
    own = checked_cells.pools_of

    def tests_alone(steps: Any) -> Any:
        return {key: pool for key, pool in own(steps).items() if key[1] == "test"}

    monkeypatch.setattr(checked_cells, "pools_of", tests_alone)
    result = study(learner, jobs=jobs)
    assert [finding.code for finding in result.findings if finding.code < "H7"] == ["H205"]
    assert result.choices.equals(right.choices)
    assert np.array_equal(result.predictions["predict"], right.predictions["predict"])
    assert {line.rule for line in result.plan.lines} == {"brute force"}


def test_answers_of_others_are_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    fits: list[int] = []

    class Counted(RandomForestRegressor):  # type: ignore[misc]
        def fit(self, *given: Any, **more: Any) -> Any:
            fits.append(1)
            return super().fit(*given, **more)

    forest = Counted(n_estimators=2, max_depth=1, random_state=0)
    learner = ho.Tuned({"ridge": (Ridge(), ALPHAS), "forest": (forest, {"max_depth": [1, 2]})}, validation=ho.KFold(4))
    wrong_where(monkeypatch, "ridge", at_test_level)
    result = study(learner)
    assert [finding.code for finding in result.findings if finding.code < "H7"] == ["H205"]
    assert len(fits) == 5 * 4 * 2  # and none in a test fold, where ridge is chosen


@pytest.mark.parametrize("postponed", [True, False])
def test_checks_come_before_a_function_that_chooses_and_else_after_the_choice(postponed: bool) -> None:
    """A function of the user's sees numbers once they are checked; otherwise checks wait for the stage after."""
    seen = []

    def choose(results: Any) -> int:
        seen.append(results)
        return 0

    learner = ho.Tuned(Ridge(), {"alpha": [1.0]}, validation=ho.KFold(4), choose="best" if postponed else choose)
    checks = study(learner).record.plan["checks"]
    order = ["test", "validation"] if postponed else ["validation", "test"]
    assert [check["level"] for check in checks] == order
    assert len(seen) == (0 if postponed else 6)  # five folds, and the choice on all rows when facts are read


@pytest.mark.parametrize("name", LEARNERS)
def test_at_least_one_test_and_one_validation_cell_are_checked(name: str) -> None:
    learner, y, kernel = LEARNERS[name]
    result = study(learner, y)
    found = counts(result)
    assert found[kernel, "test"] >= 1
    assert found[kernel, "validation"] >= (1 if isinstance(learner, ho.Tuned) else 0)
    assert all(check["passed"] for check in result.record.plan["checks"])


def many_cells(seed: int = 0, **more: Any) -> ho.Result:
    """A study so large that its share of operations pays for several fits."""
    data = np.random.default_rng(1).normal(size=(120, 60))
    learner = ho.Tuned(Ridge(), {"alpha": [1.0, 10.0]}, validation=ho.KFold(10))
    return study(learner, data.sum(axis=1), data=data, test=ho.KFold(10, repeats=8), seed=seed, **more)


def test_the_number_of_checks_follows_operations_and_never_jobs() -> None:
    one, two = (many_cells(jobs=jobs) for jobs in (1, 2))
    assert one.record.plan["checks"] == two.record.plan["checks"]
    assert counts(one)["ridge", "test"] > 3
    assert counts(one)["ridge", "validation"] > 3
    cells = {check["cell"] for check in one.record.plan["checks"]}
    assert len(cells) == counts(one).total()  # each another
    other = {check["cell"] for check in many_cells(seed=1).record.plan["checks"]}
    assert cells != other


def test_twice_the_operations_pay_for_twice_the_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    once = counts(many_cells()).total()
    monkeypatch.setattr(checked_cells, "SHARE", 2 * checked_cells.SHARE)
    assert 1.8 * once < counts(many_cells()).total() < 2.2 * once
    monkeypatch.setattr(checked_cells, "SHARE", 0.0)
    assert counts(many_cells()) == {("ridge", "test"): 1, ("ridge", "validation"): 1}


def test_one_wrong_call_in_seven_is_mostly_found_where_several_cells_are_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """m checks miss one wrong answer in seven with probability (6/7)^m: .12 for the fourteen that are made here.

    In a small study, where only one cell a level is checked, it is .73.
    """
    calls: list[int] = []

    def every_seventh(helds: Any) -> bool:
        calls.append(1)
        return len(calls) % 7 == 0

    wrong_where(monkeypatch, "ridge", every_seventh)
    found = [many_cells(seed=seed) for seed in range(5)]
    assert sum(any(one.code == "H205" for one in result.findings) for result in found) >= 4


def test_what_is_checked_is_printed(tmp_path: Path) -> None:
    learner, y, _ = LEARNERS["nested ridge"]
    plan = str(ho.explain(learner, X, y, test=ho.KFold(5)))
    assert "ridge: 1 of 5 test cells will be answered again by brute force" in plan
    assert "ridge: 1 of 60 validation cells will be answered again by brute force" in plan
    result = study(learner, y)
    line = r"ridge: 1 of 5 test cells answered again by brute force, largest difference \S+ \(.*alpha=.* on test/\d"
    assert re.search(line, str(result.plan))
    result.save(tmp_path / "study.held")
    assert re.search(line, ho.load(tmp_path / "study.held").plan)
    assert "Checks" in result.plan._repr_html_()
    result.report(tmp_path / "study.html")
    page = (tmp_path / "study.html").read_text(encoding="utf-8")
    assert "Cells answered again by brute force" in page
    assert result.record.plan["checks"][-1]["cell"] in page


def test_a_failed_check_is_printed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong_where(monkeypatch, "ridge", at_test_level)
    assert "too much: the kernel's answers are not used" in str(study(Ridge()).plan)


@pytest.mark.parametrize("name", ["ridge", "nested ridge"])
def test_a_failure_at_test_level_goes_on_from_a_journal(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, y, kernel = LEARNERS[name]
    wrong_where(monkeypatch, kernel, at_test_level)
    first = study(learner, y, journal=tmp_path / "study.db")
    monkeypatch.undo()
    again = study(learner, y, journal=tmp_path / "study.db")
    assert again.journal is not None
    assert again.journal.computed == 0
    assert [finding.code for finding in again.findings if finding.code < "H7"] == ["H205"]
    assert again.record.plan["checks"] == first.record.plan["checks"]
    assert np.array_equal(again.predictions["predict"], first.predictions["predict"])


def test_wrong_answers_of_an_interrupted_study_are_found_when_it_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program ends after the answers are kept, before they are checked; by then the kernel is right again."""
    from heldout.engine.checks import KernelChecks

    def interrupted(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    wrong_where(monkeypatch, "ridge", at_test_level)
    monkeypatch.setattr(KernelChecks, "compare", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study(Ridge(), journal=tmp_path / "study.db")
    monkeypatch.undo()
    result = study(Ridge(), journal=tmp_path / "study.db")
    assert [finding.code for finding in result.findings if finding.code < "H7"] == ["H205"]


@pytest.mark.parametrize("race", [None, "exact"])
def test_a_path_that_is_wrong_goes_on_from_a_journal_and_in_a_race(
    race: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its cells are kept one by one, as those of brute force are, so the journal has to drop them."""
    paths = [{"max_depth": [2], "ccp_alpha": [0.0, 0.5, 1.0]}, {"max_depth": [3], "ccp_alpha": [0.0, 0.5, 1.0]}]
    learner = ho.Tuned(DecisionTreeRegressor(random_state=0), paths, validation=ho.KFold(6))
    options = ho.Options(race=race)
    off = ho.Options(race=race, rules={"within": False})
    right = study(learner, options=off)
    own = within.score_cell

    def wrong(work: Any, held: Any, candidate: int, responses: Responses, **more: Any) -> Any:
        return own(work, held, candidate, _times(3, responses), **more)

    monkeypatch.setattr(within, "score_cell", wrong)
    first = study(learner, options=options, journal=tmp_path / "study.db")
    monkeypatch.undo()
    again = study(learner, options=options, journal=tmp_path / "study.db")
    for result in (first, again):
        assert [finding.code for finding in result.findings if finding.severity != "info"] == ["H205"]
        assert result.choices.equals(right.choices)
        assert np.array_equal(result.predictions["predict"], right.predictions["predict"])
    assert again.journal is not None
    assert again.journal.computed == 0
