"""`Options(timeout=…)`: a study returns what it has, and says that it is incomplete."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import heldout as ho
from heldout.base.errors import FitFailed

X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60.0)


class Paced(RegressorMixin, BaseEstimator):
    """Predicts the mean; takes long on training sets that lack the first row, and always as long as it is told."""

    def __init__(self, pause: float = 0.0, always: float = 0.0) -> None:
        self.pause = pause
        self.always = always

    def fit(self, X: Any, y: Any) -> Paced:
        time.sleep(self.always + (self.pause if y[0] != 0.0 else 0.0))
        self.mean_ = y.mean()
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.mean_)


@pytest.mark.parametrize("how", [{"backend": "inline"}, {"backend": "processes", "jobs": 2}])
def test_folds_that_were_reached_are_shown_and_the_risk_has_no_value(how: dict[str, Any]) -> None:
    test = ho.KFold(4, shuffle=False)
    whole = ho.evaluate(Paced(), X, y, test=test, progress=False, **how)
    options = ho.Options(timeout=1.5)
    started = time.perf_counter()
    seconds = 1.7 if how["backend"] == "inline" else 60.0
    result = ho.evaluate(Paced(pause=seconds), X, y, test=test, progress=False, options=options, **how)
    assert time.perf_counter() - started < 55
    assert result.risk.value is None
    assert result.risk.reason == "Incomplete: the study's time limit of 1.5 s came before its end."
    reached = result.folds["squared"].notna()
    assert reached.any()
    assert result.folds["squared"][reached].equals(whole.folds["squared"][reached])
    (finding,) = [one for one in result.findings if one.code == "H207"]
    assert "of 4 fits" in finding.message
    assert "time limit" in str(result)


def test_a_choice_that_was_not_reached_is_no_choice(tmp_path: Any) -> None:
    learner = ho.Tuned(Paced(always=0.3), {"pause": [0.0, 0.1]}, validation=ho.KFold(3))
    result = ho.evaluate(
        learner, X, y, test=ho.KFold(3), backend="inline", progress=False, options=ho.Options(timeout=0.5)
    )
    assert result.risk.value is None
    assert not result.is_complete
    result.save(tmp_path / "stopped.heldout")
    assert not ho.load(tmp_path / "stopped.heldout").is_complete
    assert (result.choices["candidate"] == -1).all()
    assert result.folds["squared"].isna().all()
    assert len(result.failures) == 0, "what was not reached has not failed"


def test_a_predictor_has_as_long_again_or_says_that_it_was_not_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    learner = ho.Tuned(Paced(), {"pause": [0.0, 0.1]}, validation=ho.KFold(3, shuffle=False))
    limits = {"backend": "inline", "progress": False, "options": ho.Options(timeout=0.8)}
    result = ho.evaluate(learner, X, y, test=ho.KFold(3), **limits)
    time.sleep(0.8)
    assert result.predictor.mean_ == y.mean()
    again = ho.evaluate(learner, X, y, test=ho.KFold(3), **limits)
    own = Paced.fit
    monkeypatch.setattr(Paced, "fit", lambda self, X, y: time.sleep(0.5) or own(self, X, y))
    with pytest.raises(FitFailed, match=r"time limit of 0.8 s .* no candidate is chosen. Give it longer"):
        _ = again.predictor


def test_time_enough_changes_nothing(tmp_path: Any) -> None:
    free = ho.evaluate(Paced(), X, y, backend="inline")
    timed = ho.evaluate(Paced(), X, y, backend="inline", options=ho.Options(timeout=60))
    assert timed.risk == free.risk
    assert not [one for one in timed.findings if one.code == "H207"]


def test_an_incomplete_study_goes_on_from_its_journal(tmp_path: Any) -> None:
    journal = str(tmp_path / "study.db")
    asked: dict[str, Any] = {"test": ho.KFold(4), "backend": "inline", "progress": False, "journal": journal}
    learner = Paced(always=0.2)
    cut = ho.evaluate(learner, X, y, **asked, options=ho.Options(timeout=0.3))
    assert cut.risk.value is None
    whole = ho.evaluate(learner, X, y, **asked)
    assert whole.risk.value == ho.evaluate(Paced(), X, y, test=ho.KFold(4), backend="inline").risk.value


@pytest.mark.parametrize("option", ["timeout", "fit_timeout"])
@pytest.mark.parametrize("value", [0, -1, "soon", float("inf"), True])
def test_senseless_limits_are_refused(option: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"^{option}=.* is not a number of seconds above 0"):
        ho.Options(**{option: value})


@pytest.mark.parametrize("value", ["2 apples", "GB", 0, -5, "", True])
def test_senseless_sizes_are_refused(value: Any) -> None:
    with pytest.raises(ValueError, match='is not a number of bytes, nor a text such as "2GB"'):
        ho.Options(fit_memory=value)
