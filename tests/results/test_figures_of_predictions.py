"""Curves and classes are scikit-learn's, on the same held-out predictions."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    precision_recall_fscore_support,
    roc_auc_score,
    roc_curve,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import heldout as ho
from heldout.results.figures_of_predictions import FEWEST_POINTS, MOST_CURVES, Ranked, cumulated, curve_points

LOSSES = ["zero_one", "log", "roc_auc"]
CURVES = ("roc", "pr", "gains", "thresholds")


def learner(C=0.01):
    return make_pipeline(StandardScaler(), LogisticRegression(C=C))


@pytest.fixture(scope="module")
def two():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return ho.evaluate(learner(), X, np.where(y == 1, "benign", "malignant"), loss=LOSSES, jobs=1)


@pytest.fixture(scope="module")
def weighted():
    X, y = load_breast_cancer(return_X_y=True)
    weight = np.random.default_rng(0).integers(0, 4, len(y)) / 2  # some rows weigh nothing
    return ho.evaluate(learner(), X, y, loss=LOSSES, sample_weight=weight, jobs=1)


@pytest.fixture(scope="module")
def three():
    X, y = load_iris(return_X_y=True)
    return ho.evaluate(learner(), X, np.array(["a", "b", "c"])[y], loss=["zero_one", "log"], jobs=1)


def true_and_score(result, label):
    frame = result.predictions
    weight = frame.get("sample_weight")
    return (frame["y"] == label).to_numpy(), frame[f"proba_{label}"].to_numpy(), weight


@pytest.mark.parametrize(("name", "label"), [("two", "malignant"), ("weighted", 1)])
def test_the_roc_curve_is_that_of_scikit_learn(name, label, request):
    result = request.getfixturevalue(name)
    y, score, weight = true_and_score(result, label)
    fpr, tpr, thresholds = roc_curve(y, score, sample_weight=weight)
    found = result.roc
    np.testing.assert_allclose(found["fpr"], fpr, atol=1e-12)
    np.testing.assert_allclose(found["tpr"], tpr, atol=1e-12)
    np.testing.assert_array_equal(found["threshold"], thresholds)
    assert (found["class"] == label).all()
    assert ((found["tpr_low"] <= found["tpr"] + 1e-12) & (found["tpr"] <= found["tpr_high"] + 1e-12)).all()


@pytest.mark.parametrize(("name", "label"), [("two", "malignant"), ("weighted", 1)])
def test_precision_and_recall_are_those_of_scikit_learn(name, label, request):
    result = request.getfixturevalue(name)
    y, score, weight = true_and_score(result, label)
    precision, recall, thresholds = precision_recall_curve(y, score, sample_weight=weight)
    found = result.pr
    np.testing.assert_allclose(found["precision"], precision, atol=1e-12)
    np.testing.assert_allclose(found["recall"], recall, atol=1e-12)
    np.testing.assert_array_equal(found["threshold"][:-1], thresholds)
    (curve,) = result.summary(figures=True)["figures"]["pr"]["curves"]
    assert curve["average_precision"] == pytest.approx(average_precision_score(y, score, sample_weight=weight))


def test_the_area_is_the_mean_over_folds_as_the_estimate_is(two, weighted):
    for result in (two, weighted):
        (curve,) = result.summary(figures=True)["figures"]["roc"]["curves"]
        assert curve["by_fold"]
        assert curve["area"] == pytest.approx(result.estimates["risk_roc_auc"].value, abs=1e-12)


def test_a_fold_without_both_classes_has_the_area_of_all_rows():
    X, y = make_classification(60, random_state=0)
    result = ho.evaluate(learner(), X, y, loss="log", test=ho.LeaveOneOut(), jobs=1)
    (curve,) = result.summary(figures=True)["figures"]["roc"]["curves"]
    assert not curve["by_fold"]
    assert curve["area"] == pytest.approx(roc_auc_score(result.predictions["y"], result.predictions["proba_1"]))


def test_calibration_is_that_of_scikit_learn(two):
    y, score, _ = true_and_score(two, "malignant")
    (curve,) = two.summary(figures=True)["figures"]["calibration"]["curves"]
    observed, predicted = calibration_curve(y, score, n_bins=10, strategy="quantile")
    np.testing.assert_allclose([one["observed"] for one in curve["bins"]], observed)
    np.testing.assert_allclose([one["predicted"] for one in curve["bins"]], predicted)


@pytest.mark.parametrize("name", ["two", "weighted", "three"])
def test_classes_are_counted_as_scikit_learn_counts_them(name, request):
    result = request.getfixturevalue(name)
    frame, found = result.predictions, result.classes.set_index("class")
    weight = frame.get("sample_weight")
    precision, recall, f1, _ = precision_recall_fscore_support(frame["y"], frame["predict"], sample_weight=weight)
    np.testing.assert_allclose(found["precision"], precision)
    np.testing.assert_allclose(found["recall"], recall)
    np.testing.assert_allclose(found["f1"], f1)
    assert found["support"].to_dict() == frame["y"].value_counts().to_dict()
    assert (found["recall_low"] < found["recall"]).all()


def test_thresholds_are_counted_row_by_row(two):
    y, score, _ = true_and_score(two, "malignant")
    for _, row in two.thresholds.iterrows():
        called = score >= row["threshold"]
        assert row["share"] == pytest.approx(called.mean())
        assert row["recall"] == pytest.approx(called[y].mean())
        if called.any():
            assert row["precision"] == pytest.approx(y[called].mean())
            assert row["f1"] == pytest.approx(2 * (called & y).sum() / (called.sum() + y.sum()))
        else:
            assert np.isnan(row["precision"])


def test_gains_are_those_of_the_rows_with_the_highest_scores(two):
    y, score, _ = true_and_score(two, "malignant")
    order = np.argsort(-score)
    for _, row in two.gains.iloc[1::40].iterrows():
        first = order[: round(row["share"] * len(y))]
        assert row["gain"] == pytest.approx(y[first].sum() / y.sum())
        assert row["lift"] == pytest.approx(y[first].mean() / y.mean())


def test_several_classes_have_a_curve_each_and_no_one_threshold(three):
    assert set(three.roc["class"]) == {"a", "b", "c"}
    for label in "abc":
        y, score, _ = true_and_score(three, label)
        own = three.roc[three.roc["class"] == label]
        np.testing.assert_allclose(own["tpr"], roc_curve(y, score)[1])
    with pytest.raises(ho.HeldoutError, match="no one threshold"):
        _ = three.thresholds
    assert three.plot.roc(label="b").get_xlabel() == "false positive rate: the others called b"


def test_a_classifier_without_probabilities_is_ranked_by_its_decisions():
    X, y = load_breast_cancer(return_X_y=True)
    result = ho.evaluate(
        make_pipeline(StandardScaler(), LinearSVC(random_state=0)), X, y, loss=["zero_one", "roc_auc"], jobs=1
    )
    frame = result.predictions
    np.testing.assert_allclose(result.roc["tpr"], roc_curve(frame["y"], frame["decision_function"])[1])
    below = result.thresholds["threshold"] < 0
    assert below.any()
    assert not below.all()


def test_curves_of_a_figure_are_short_and_keep_their_ends():
    X, y = make_classification(1_500, 8, n_informative=6, n_classes=8, n_clusters_per_class=1, random_state=0)
    result = ho.evaluate(learner(), X, y, loss=["zero_one", "log"], test=ho.KFold(3), jobs=1)
    figures = result.summary(figures=True)["figures"]
    for name, (x, height) in {"roc": ("fpr", "tpr"), "pr": ("recall", "precision"), "gains": ("share", "gain")}.items():
        figure = figures[name]
        assert len(figure["curves"]) == MOST_CURVES
        assert figure["left_out"] == 2
        for curve in figure["curves"]:
            whole = getattr(result, name)
            whole = whole[whole["class"].astype(str) == curve["label"]]
            assert len(curve["points"]) <= FEWEST_POINTS < len(whole)
            for end in (0, -1):
                assert curve["points"][end][x] == whole[x].iloc[end]
                assert curve["points"][end][height] == whole[height].iloc[end]
    assert len(json.dumps({name: figures[name] for name in CURVES})) < 250_000


def test_constant_scores_have_the_curve_of_no_model():
    X, y = make_classification(90, weights=[0.7], random_state=0)
    result = ho.evaluate(DummyClassifier(strategy="prior"), X, y, test=ho.Holdout(0.4), loss=["log"], jobs=1)
    assert result.roc[["fpr", "tpr"]].to_numpy().tolist() == [[0, 0], [1, 1]]
    (curve,) = result.summary(figures=True)["figures"]["roc"]["curves"]
    assert curve["area"] == 0.5
    for name in (*CURVES, "classes"):
        assert getattr(result.plot, name)() is not None


def test_one_class_held_out_says_so():
    X, y = make_classification(80, random_state=0)
    rows = np.flatnonzero(y == 1)[:12]
    result = ho.evaluate(learner(), X, y, test=ho.Given(rows), loss="log", jobs=1)
    with pytest.raises(ho.HeldoutError, match="All held-out rows are of one class"):
        _ = result.roc
    assert result.classes["support"].sum() == 12


def test_a_number_has_no_curves_and_withheld_rows_are_not_told():
    X, y = make_classification(80, random_state=0)
    with pytest.raises(ho.HeldoutError, match="The target is a number"):
        _ = ho.evaluate(Ridge(), X, y.astype(float), jobs=1).roc
    held = ho.evaluate(learner(), X, y, test=ho.Holdout(0.5), options=ho.Options(answer="value"), jobs=1)
    for name in (*CURVES, "classes"):
        with pytest.raises(ho.HeldoutError, match="withheld"):
            getattr(held, name)
        assert "withheld" in held.summary(figures=True)["figures"][name]["none"]


def test_rows_in_groups_have_no_band():
    X, y = make_classification(120, random_state=0)
    result = ho.evaluate(learner(), X, y, groups=np.arange(120) // 6, loss="log", jobs=1)
    assert "tpr_low" not in result.roc
    assert "recall_low" not in result.classes
    assert result.plot.roc() is not None


def test_repeats_bring_no_further_rows():
    X, y = make_classification(120, flip_y=0.2, random_state=0)
    once = ho.evaluate(learner(), X, y, test=ho.KFold(4), loss="log", jobs=1).classes
    often = ho.evaluate(learner(), X, y, test=ho.KFold(4, repeats=9), loss="log", jobs=1).classes
    for frame in (once, often):
        frame["width"] = frame["recall_high"] - frame["recall_low"]
    np.testing.assert_allclose(often["width"], once["width"], rtol=0.2)


def test_a_saved_result_has_the_same_curves(two, tmp_path):
    two.save(tmp_path / "two.heldout")
    loaded = ho.load(tmp_path / "two.heldout")
    for name in (*CURVES, "classes"):
        pd.testing.assert_frame_equal(getattr(loaded, name), getattr(two, name))


@pytest.mark.parametrize("away", [0.5, 2.0])
def test_the_band_of_the_roc_curve_covers(away):
    """Pointwise, at false positive rates of which the other class has several rows."""
    chance, rates, covered = np.random.default_rng(0), np.array([0.05, 0.1, 0.3, 0.6]), []
    y = np.arange(200) < 80
    for _ in range(300):
        score = chance.normal(size=200) + away * y
        scores, hits, alarms = cumulated(y, score, np.ones(200))
        ranked = Ranked(label="yes", scores=scores, hits=hits, alarms=alarms, draws=(80, 120))
        points = curve_points(ranked, "roc")
        ends = [np.interp(rates, points["fpr"], points[f"tpr_{end}"]) for end in ("low", "high")]
        truth = norm.sf(norm.isf(rates) - away)
        covered.append((ends[0] <= truth) & (truth <= ends[1]))
    assert (np.mean(covered, axis=0) > 0.92).all()
