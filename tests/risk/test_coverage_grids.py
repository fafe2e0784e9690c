"""What `make coverage` is made of: truths by hand, records that are kept, and verdicts."""

from __future__ import annotations

from dataclasses import fields
from hashlib import sha256

import numpy as np
import pytest
from benchmarks.coverage import compare_power, exchangeable, ledger, null, simulate
from benchmarks.coverage import judge as judging
from benchmarks.coverage.judge import DEFAULT, estimate_of, judge_cells
from benchmarks.coverage.measure import measure, score
from benchmarks.coverage.populations import Classes, Gaussians, Grouped, Numbers, Sample
from benchmarks.coverage.settings import FIVE, HELD, ONE_OUT, RECIPES, grid
from benchmarks.coverage.tally import COVERS, FAILS, NONE, WARNED, Shot, tally
from benchmarks.coverage.truth import Truth, draw_training
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer

import heldout as ho

ABOUT = {"setting": "", "recipe": "", "loss": "", "is_default": True}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HELDOUT_COVERAGE", str(tmp_path))
    monkeypatch.setattr(simulate, "CHUNK", 2)
    return tmp_path


# --- truths ----------------------------------------------------------------------------------------------------------

SCORERS = {"zero_one": ("accuracy", lambda value: 1 - value), "log": ("neg_log_loss", lambda value: -value)}
TWO = ("zero_one", "log", "neg_brier_score", "roc_auc", "balanced_accuracy", "f1", "matthews_corrcoef")
THREE = ("zero_one", "log", "neg_brier_score", "balanced_accuracy", "f1_macro", "matthews_corrcoef")


@pytest.mark.parametrize(
    ("population", "losses"),
    [(Classes(signal=2.0, share=0.3), TWO), (Gaussians(apart=1.5, shares=(0.5, 0.3, 0.2)), THREE)],
)
def test_scores_of_classes_are_those_of_scikit_learn(population, losses):
    sample = population.draw(np.random.default_rng(0), 300)
    model = LogisticRegression().fit(sample.X[:100], sample.y[:100])
    found = measure(model, sample, list(losses))
    for loss in losses:
        name, turn = SCORERS.get(loss, (loss, float))
        assert score(loss, found[loss]) == pytest.approx(turn(get_scorer(name)(model, sample.X, sample.y)), abs=1e-12)


def test_scores_of_numbers_are_those_of_scikit_learn():
    sample = Numbers(fan=True).draw(np.random.default_rng(0), 300)  # no noise is averaged out here
    model = LinearRegression().fit(sample.X[:100], sample.y[:100])
    names = {"squared": "neg_mean_squared_error", "absolute": "neg_mean_absolute_error"}
    for loss in ("squared", "absolute", "r2", "neg_root_mean_squared_error"):
        by_hand = score(loss, measure(model, sample, [loss])[loss])
        value = get_scorer(names.get(loss, loss))(model, sample.X, sample.y)
        assert by_hand == pytest.approx(-value if loss in names else value, abs=1e-12)


def test_the_noise_is_averaged_out_of_the_squared_loss():
    sample = Numbers(noise="t3").draw(np.random.default_rng(0), 50)
    perfect = LinearRegression().fit(sample.X, sample.mean)
    assert score("squared", measure(perfect, sample, ["squared"])["squared"]) == pytest.approx(1.0)


def test_training_sets_have_two_rows_of_each_class():
    setting = grid()["majority 50, 5%"]
    rng = np.random.default_rng(0)
    assert all(draw_training(setting, rng, 40).y.sum() >= 2 for _ in range(50))


# --- grids -----------------------------------------------------------------------------------------------------------


def test_the_grids_are_as_large_as_they_must_be():
    assert len(grid()) >= 40
    assert len(grid(True)) >= 20
    assert not set(grid()) & set(grid(True))
    for second in (False, True):
        for setting in grid(second).values():
            assert set(setting.recipes) <= set(RECIPES)


def test_the_grids_are_those_that_were_fixed():
    """A rule must not be helped by a grid that moves. Whoever changes a setting has to change this, and say why."""
    assert _digest(False) == FIRST
    assert _digest(True) == SECOND


def _digest(second):
    told = [setting.digest(setting.losses, setting.recipes) for setting in grid(second).values()]
    return sha256(" ".join(told).encode()).hexdigest()[:10]


FIRST, SECOND = "f68de56502", "6e3cea02d5"


# --- records that are kept -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("key", "recipe"), [("OLS 50", ONE_OUT), ("naive Bayes 50, 20%", FIVE), ("OLS 200", HELD)])
def test_a_record_comes_back_as_it_was_and_gives_the_interval_of_the_study(folder, key, recipe):
    setting = grid()[key]
    simulate.make_chunk(False, key, recipe, 0, setting.losses_under(recipe))
    kept = list(simulate.replications(setting, recipe, 2))
    sample = setting.population.draw(simulate.generator(setting, 71, 1), setting.n)
    with simulate.recorded() as records:
        result = simulate.evaluate(setting, recipe, sample, losses=setting.losses_under(recipe), seed=1)
    for number, (loss, was) in enumerate(zip(kept[1].records, records, strict=True)):
        again = simulate.restored(kept[1].records[loss])
        for one, other in zip(again.row_losses or (), was.row_losses or (), strict=True):
            assert np.array_equal(one, other)
        assert {field.name for field in fields(again)} == {field.name for field in fields(was)}
        shown = result.risk if number == 0 else result.estimates[f"risk_{loss}"]
        made = estimate_of(again, DEFAULT)
        assert (made.value, made.low, made.high) == (shown.value, shown.low, shown.high)
    assert (kept[1].own is not None) == RECIPES[recipe].one_set


def test_what_is_there_is_not_simulated_again(folder, monkeypatch):
    made = []

    def here(work, jobs, *, words, chunk=None):
        for job in jobs:
            made.append(job)
            yield work(*job)

    monkeypatch.setattr(simulate, "spread", here)
    every = grid()["OLS 50"].losses_under(FIVE)
    simulate.simulate({("OLS 50", FIVE): every}, 4, second=False)
    simulate.simulate({("OLS 50", FIVE): ["r2"]}, 6, second=False)
    assert [job[3:] for job in made] == [(0, every), (2, every), (4, ["squared", "r2"])]
    assert [set(one.records) for one in simulate.replications(grid()["OLS 50"], FIVE, 6)][3:5] == [
        set(every),
        {"squared", "r2"},
    ]
    assert judge_cells(False, "OLS 50", FIVE, every, 6, False) == []  # its truth is not there yet
    monkeypatch.setattr(simulate, "FIELDS", [*simulate.FIELDS, "Record.new"])
    simulate.simulate({("OLS 50", FIVE): ["r2"]}, 2, second=False)  # records have a field more today
    assert [job[3] for job in made] == [0, 2, 4, 0]


def test_cells_count_the_studies_that_were_asked_for_their_loss(folder, monkeypatch):
    setting = grid()["OLS 50"]
    every = setting.losses_under(FIVE)
    simulate.make_chunk(False, "OLS 50", FIVE, 0, every)
    simulate.make_chunk(False, "OLS 50", FIVE, 2, ["squared", "r2"])
    truth = simulate.chunk_path(setting, FIVE, 0)  # any file that is there
    monkeypatch.setattr(judging, "truth_path", lambda *of: truth)
    monkeypatch.setattr(judging, "read_truths", lambda *of: dict.fromkeys(every, Truth(value=1.0, error=0.1)))
    cells = judge_cells(False, "OLS 50", FIVE, every, 4, False)
    assert {cell.loss: cell.studies for cell in cells} == {**dict.fromkeys(every, 2), "squared": 4, "r2": 4}


def test_a_loss_that_is_refused_does_not_stop_the_others(folder, monkeypatch):
    setting = grid()["naive Bayes 50, 20%"]
    study = simulate.evaluate

    def refusing(*asked, losses, **more):
        if "roc_auc" in losses:
            raise ho.HeldoutError("no AUC")
        return study(*asked, losses=losses, **more)

    monkeypatch.setattr(simulate, "evaluate", refusing)
    found = simulate.replicate(setting, FIVE, 0, list(setting.losses))
    assert found.refused == {"roc_auc": "no AUC"}
    assert set(found.records) == set(setting.losses) - {"roc_auc"}


def test_groups_are_units():
    sample: Sample = Grouped(share=0.3).draw(np.random.default_rng(0), 30)
    assert len(np.unique(sample.groups)) == 30
    assert len(np.unique(np.bincount(sample.groups))) > 5


# --- verdicts --------------------------------------------------------------------------------------------------------


def cell(covering, missing=0, none=0, warned=0):
    shots = [Shot(value=0.1 * (place % 7), low=-1.0, high=1.0, truth=0.0) for place in range(covering)]
    shots += [Shot(value=2.0, low=1.5, high=2.5, truth=0.0, warned=place < warned) for place in range(missing)]
    shots += [Shot(value=2.0, low=None, high=None, truth=0.0) for _ in range(none)]
    return tally(shots, studies=len(shots), truth_error=0.0, **ABOUT)


def test_a_cell_fails_only_where_too_few_intervals_are_shown_to_cover():
    assert cell(184, 16).verdict == COVERS  # 92 %
    assert cell(172, 28).verdict == COVERS  # 86 %: of 200 it may still be chance
    assert cell(168, 32).verdict == FAILS
    assert cell(860, 140).verdict == FAILS
    assert cell(172, 28).doubtful
    assert not cell(190, 10).doubtful
    assert cell(20, 0, none=180).verdict == NONE


def test_a_cell_is_warned_of_where_a_warning_fires_nearly_always():
    assert cell(0, 200, warned=180).verdict == WARNED
    assert cell(0, 200, warned=179).verdict == FAILS


def test_intervals_above_and_below_are_counted():
    found = cell(10, 5)
    assert (found.below, found.above, found.covered) == (0, 5, 10)


# --- the tables beside the grid --------------------------------------------------------------------------------------


def test_each_setting_of_the_power_table_can_be_studied():
    for place, setting in enumerate(compare_power.SETTINGS):
        recipe = "KFold(5)"
        before, after, mean, low, high, *_ = compare_power.study(place, 100, recipe, 0)
        assert low <= mean <= high, setting.words
        assert 0 <= before <= 1
        assert 0 <= after <= 1


def test_one_study_of_null_data_of_equal_learners_and_of_an_attack():
    assert all(np.isfinite(list(null.replicate(0).values())))
    assert all(isinstance(rejected, bool | np.bool_) for *_, rejected in exchangeable.replicate(0))
    assert [row.looks for row in ledger.rows(2)]
