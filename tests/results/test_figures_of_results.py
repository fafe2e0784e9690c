"""What figures show is counted from a result's own tables: each number is counted here again, another way."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.results.figures import MOST_CLASSES, REST

FIGURES = {
    "splits",
    "folds",
    "estimates",
    "parameters",
    "stability",
    "calibration",
    "confusion",
    "residuals",
    "roc",
    "pr",
    "gains",
    "thresholds",
    "classes",
    "importance",
    "coefficients",
    "subgroups",
    "learning_curve",
    "time",
}


@pytest.fixture(scope="module")
def classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    space = {"logisticregression__C": [0.01, 1.0, 100.0], "standardscaler__with_mean": [True, False]}
    tuned = ho.Tuned(make_pipeline(StandardScaler(), LogisticRegression()), space, validation=ho.KFold(4))
    result = ho.evaluate(tuned, X, y, test=ho.KFold(5), loss=["zero_one", "log"], jobs=1)
    assert result.predictor is not None  # its fits give the best validation number
    return result


@pytest.fixture(scope="module")
def numbers():
    X, y = load_diabetes(return_X_y=True)
    return ho.evaluate(Ridge(alpha=0.1), X, y, test=ho.KFold(5), jobs=1)


@pytest.fixture(scope="module")
def shown(classes):
    return classes.summary(figures=True)["figures"]


def test_every_figure_is_there_and_plain(classes, numbers):
    for result in (classes, numbers):
        summary = result.summary(figures=True)
        assert set(summary["figures"]) == FIGURES
        assert json.loads(json.dumps(summary, allow_nan=False)) == summary
        assert "figures" not in result.summary()


def test_splits_are_those_of_the_result(classes, shown):
    picture = shown["splits"]
    assert np.sum(picture["held"], axis=1).tolist() == [30] * 5
    assert np.sum(picture["train"], axis=1).tolist() == [120] * 5
    assert np.sum(picture["held"], axis=0).tolist() == [1] * 150  # each row is held out once, a stretch a row


def test_folds_and_their_mean(classes, shown):
    assert [point["value"] for point in shown["folds"]["points"]] == classes.folds["zero_one"].tolist()
    assert shown["folds"]["value"] == classes.risk.value
    assert (shown["folds"]["low"], shown["folds"]["high"]) == (classes.risk.low, classes.risk.high)


def test_estimates_of_the_same_loss_stand_together(classes, shown):
    rows = {row["name"]: row for row in shown["estimates"]["rows"]}
    assert set(rows) == {"risk", "best_validation", "best_validation_bbc", "best_validation_tt"}
    assert rows["best_validation"]["optimistic"]
    assert not rows["risk"]["optimistic"]
    assert rows["best_validation_tt"]["value"] == classes.estimates["best_validation_tt"].value


def test_a_point_of_a_parameter_is_the_best_that_the_others_make_of_it(classes, shown):
    panel = next(one for one in shown["parameters"]["panels"] if one["param"] == "logisticregression__C")
    frame = classes.candidates
    assert panel["scale"] == "log"
    assert [point["value"] for point in panel["points"]] == [0.01, 1.0, 100.0]
    for point in panel["points"]:
        own = frame[frame["param_logisticregression__C"] == point["value"]]
        best = own.loc[own.groupby("fold")["validation_zero_one"].idxmin()]
        assert point["mean"] == pytest.approx(best["validation_zero_one"].mean(), abs=1e-12)
        assert point["se"] == pytest.approx((best["validation_zero_one_sd"] / 2).mean(), abs=1e-12)
        assert point["candidates"] == 2
    chosen = classes.choices["param_logisticregression__C"].value_counts()
    assert dict(panel["chosen"]) == chosen.to_dict()


def test_the_mark_of_one_standard_error(classes, shown):
    frame, mark = classes.candidates, shown["parameters"]["one_se"]
    best = frame.loc[frame.groupby("fold")["validation_zero_one"].idxmin()]
    limit = best["validation_zero_one"] + best["validation_zero_one_sd"] / 2
    assert mark["best"] == pytest.approx(best["validation_zero_one"].mean(), abs=1e-12)
    assert mark["limit"] == pytest.approx(limit.mean(), abs=1e-12)


def test_the_simplest_within_one_standard_error_is_what_the_rule_takes():
    X, y = load_iris(return_X_y=True)
    space = {"n_neighbors": [1, 5, 15, 45]}
    given = {"test": ho.KFold(5), "jobs": 1}
    shown = ho.evaluate(ho.Tuned(KNeighborsClassifier(), space), X, y, **given).summary(figures=True)["figures"]
    by_rule = ho.evaluate(ho.Tuned(KNeighborsClassifier(), space, choose="one_se"), X, y, **given)
    (panel,) = shown["parameters"]["panels"]
    assert panel["simplest"] == by_rule.choices["param_n_neighbors"].mode()[0]
    assert panel["scale"] == "linear"


def test_stability_counts_choices(classes, shown):
    counted = {row["words"]: row["count"] for row in shown["stability"]["choices"]}
    assert sum(counted.values()) == shown["stability"]["folds"] == 5
    folds = sorted(fold for row in shown["stability"]["choices"] for fold in row["folds"])
    assert folds == [0, 1, 2, 3, 4]
    (first, *_) = shown["stability"]["params"]
    values = classes.choices["param_" + first["param"]].value_counts().to_dict()
    assert {row["value"]: row["count"] for row in first["values"]} == values


def test_confusion_counts_rows(classes, shown):
    frame = classes.predictions
    for i, true in enumerate(shown["confusion"]["labels"]):
        for j, predicted in enumerate(shown["confusion"]["labels"]):
            both = (frame["y"].astype(str) == true) & (frame["predict"].astype(str) == predicted)
            assert shown["confusion"]["counts"][i][j] == both.sum()
    assert np.sum(shown["confusion"]["counts"]) == 150


def test_calibration_bins_hold_every_row_once(classes, shown):
    frame = classes.predictions
    for curve in shown["calibration"]["curves"]:
        label = int(curve["label"])
        assert sum(one["rows"] for one in curve["bins"]) == 150
        for one in curve["bins"]:
            inside = frame[frame[f"proba_{label}"].between(one["low"], one["high"])]
            assert len(inside) == one["rows"]
            assert one["predicted"] == pytest.approx(inside[f"proba_{label}"].mean())
            assert one["observed"] == pytest.approx((inside["y"] == label).mean())
            assert one["observed_low"] <= one["observed"] <= one["observed_high"]


def test_two_classes_have_one_calibration_curve():
    X, y = load_breast_cancer(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=1, random_state=0)  # few distinct probabilities
    shown = ho.evaluate(tree, X, y, test=ho.KFold(3), loss="log", jobs=1).summary(figures=True)["figures"]
    (curve,) = shown["calibration"]["curves"]
    assert curve["label"] == "1"
    edges = [(one["low"], one["high"]) for one in curve["bins"]]
    assert all(before[1] < after[0] for before, after in itertools.pairwise(edges))  # equal ones together


def test_without_probabilities_the_way_to_get_them_is_told():
    X, y = load_iris(return_X_y=True)
    shown = ho.evaluate(LinearSVC(), X, y, test=ho.KFold(3), jobs=1).summary(figures=True)["figures"]
    assert "LinearSVC gives no probabilities" in shown["calibration"]["none"]
    assert "confusion" in shown
    assert shown["parameters"] == {"none": "Nothing was chosen: there is one candidate."}


def test_many_classes_are_taken_together():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(30), 10)
    X = y[:, None] + rng.normal(scale=0.3, size=(300, 1))
    result = ho.evaluate(KNeighborsClassifier(), X, y, test=ho.KFold(5), jobs=1)
    table = result.summary(figures=True)["figures"]["confusion"]
    assert len(table["labels"]) == MOST_CLASSES
    assert table["labels"][-1] == REST
    assert np.sum(table["counts"]) == 300


def test_residuals_are_target_less_prediction(numbers):
    shown = numbers.summary(figures=True)["figures"]["residuals"]
    frame, (output,) = numbers.predictions, shown["outputs"]
    assert [point["predicted"] for point in output["points"]] == pytest.approx(frame["predict"].tolist())
    residuals = (frame["y"] - frame["predict"]).tolist()
    assert [point["residual"] for point in output["points"]] == pytest.approx(residuals)
    assert not shown["sampled"]
    order = np.argsort(frame["predict"].to_numpy(), kind="stable")
    first = (frame["y"] - frame["predict"]).to_numpy()[np.array_split(order, 10)[0]]
    assert output["bands"][0]["middle"] == pytest.approx(np.median(first))


def test_time_is_that_of_fits_and_scores(classes, shown):
    bars = shown["time"]["bars"]
    assert {bar["level"] for bar in bars} == {"validation", "test"}
    assert sum(bar["fit"] for bar in bars) == pytest.approx(classes.record.seconds["fit_seconds"])
    assert sum(bar["cells"] for bar in bars if bar["level"] == "validation") == 5 * 4 * 6
    assert sum(bar["cells"] for bar in bars if bar["level"] == "test") == 5


def test_the_learning_curve_is_the_table(numbers):
    X, y = load_diabetes(return_X_y=True)
    options = ho.Options(learning_curve=(0.5,))
    result = ho.evaluate(Ridge(alpha=0.1), X, y, test=ho.KFold(5), jobs=1, options=options)
    points = result.summary(figures=True)["figures"]["learning_curve"]["points"]
    assert [point["size"] for point in points] == result.learning_curve["size"].tolist()
    assert [point["value"] for point in points] == result.learning_curve["estimate"].tolist()
    assert "learning_curve=True" in numbers.summary(figures=True)["figures"]["learning_curve"]["none"]


def test_candidates_are_listed_best_first(classes):
    rows = classes.summary(figures=True)["candidates"]
    means = classes.candidates.groupby("candidate")["validation_zero_one"].mean()
    assert [row["mean"] for row in rows] == pytest.approx(sorted(means), abs=1e-12)
    assert sum(row["chosen"] for row in rows) == 5
    assert {row["candidate"] for row in rows} == set(range(6))


def test_scores_keep_their_sign():
    X, y = load_diabetes(return_X_y=True)
    tuned = ho.Tuned(Ridge(), {"alpha": [0.01, 1.0, 100.0]}, loss="r2")
    result = ho.evaluate(tuned, X, y, test=ho.KFold(4), jobs=1)
    summary = result.summary(figures=True)
    panel = summary["figures"]["parameters"]["panels"][0]
    assert summary["figures"]["parameters"]["greater_is_better"]
    means = result.candidates.groupby("param_alpha")["validation_r2"].mean()
    assert [point["mean"] for point in panel["points"]] == pytest.approx(means.tolist())
    assert summary["figures"]["parameters"]["one_se"]["limit"] < summary["figures"]["parameters"]["one_se"]["best"]
    assert summary["candidates"][0]["mean"] == pytest.approx(means.max())


def test_withheld_rows_are_in_no_figure():
    X, y = load_iris(return_X_y=True)
    options = ho.Options(answer="rounded:0.05")
    result = ho.evaluate(KNeighborsClassifier(), X, y, test=ho.Holdout(0.3), options=options, jobs=1)
    shown = result.summary(figures=True)["figures"]
    for name in ("confusion", "calibration", "folds"):
        assert "withheld" in shown[name]["none"], name
    assert result.summary()["metrics"][0]["gain"] is None


def test_a_loaded_result_shows_the_same(classes, tmp_path):
    classes.save(tmp_path / "result.heldout")
    assert ho.load(tmp_path / "result.heldout").summary(figures=True) == classes.summary(figures=True)


class Worded(Ridge):
    """A learner with a parameter that takes anything."""

    def __init__(self, alpha=1.0, thing=None):
        super().__init__(alpha=alpha)
        self.thing = thing


@pytest.mark.parametrize(
    ("values", "shown", "scale"),
    [
        ([float("nan"), 0.5], ["nan", 0.5], "category"),
        ([1, 2**80], [1, str(2**80)], "category"),
        ([Fraction(1, 3), 1], ["Fraction(1, 3)", 1], "category"),
        ([True, False], ["True", "False"], "category"),
        ([1, 2, 3], [1, 2, 3], "linear"),
    ],
)
def test_any_value_of_a_parameter_has_its_place(values, shown, scale):
    X, y = load_diabetes(return_X_y=True)
    result = ho.evaluate(ho.Tuned(Worded(), {"thing": values}, validation=ho.KFold(3)), X, y, test=ho.KFold(3), jobs=1)
    figures = result.summary(figures=True)["figures"]
    (panel,) = figures["parameters"]["panels"]
    assert [point["value"] for point in panel["points"]] == shown
    assert panel["scale"] == scale
    assert panel["chosen"] == [[shown[0], 3]]  # all tie, so the first is taken
    (counted,) = figures["stability"]["params"]
    assert [one["count"] for one in counted["values"]] == [3]
    if scale == "linear":
        assert counted["values"][0]["value"] == 1  # the number, and not what NumPy calls it


def test_none_is_a_value_where_a_parameter_is_always_set():
    X, y = load_iris(return_X_y=True)
    space = {"max_depth": [None, 1, 2]}
    result = ho.evaluate(ho.Tuned(DecisionTreeClassifier(random_state=0), space), X, y, test=ho.KFold(3), jobs=1)
    summary = result.summary(figures=True)
    (panel,) = summary["figures"]["parameters"]["panels"]
    assert [point["value"] for point in panel["points"]] == ["None", 1, 2]
    assert {row["params"]["max_depth"] for row in summary["candidates"]} == {None, 1, 2}
    assert all("max_depth" in choice["params"] for choice in summary["choices"])
    assert sum(row["count"] for row in summary["figures"]["stability"]["params"][0]["values"]) == 3


def test_none_is_nothing_where_a_candidate_does_not_set_the_parameter():
    X, y = load_iris(return_X_y=True)
    families = {
        "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [None, 2]}),
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
    }
    summary = ho.evaluate(ho.Tuned(families), X, y, test=ho.KFold(3), jobs=1).summary(figures=True)
    assert {tuple(row["params"]) for row in summary["candidates"]} == {("max_depth",), ("n_neighbors",)}


def test_several_labels_a_row_are_no_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    result = ho.evaluate(KNeighborsClassifier(), X, (X[:, :2] > 0).astype(int), test=ho.KFold(3), jobs=1)
    shown = result.summary(figures=True)["figures"]
    assert "several labels" in shown["confusion"]["none"]
    assert "class" in shown["residuals"]["none"]


def test_candidates_past_the_list_are_counted_on_the_page(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    tuned = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-6, 6, 1_200)}, validation=ho.Holdout(0.3))
    result = ho.evaluate(tuned, X, y, test=ho.Holdout(0.3), jobs=1)
    result.report(tmp_path / "page.html")
    assert "200 more rows left out here" in (tmp_path / "page.html").read_text()


def test_the_call_on_the_page_runs():
    X, y = load_iris(return_X_y=True)
    tuned = ho.Tuned(
        make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": ho.log_grid(-1, 1, 3)}
    )
    result = ho.evaluate(tuned, X, y, test=ho.KFold(3), loss="log", seed=3, jobs=1, options=ho.Options(pool=True))
    call, names = result.summary()["about"]["call"], {"X": X, "y": y}
    assert max(map(len, call.splitlines())) < 80
    exec(call.replace("\nevaluate(", "\nagain = evaluate("), names)
    assert names["again"].risk == result.risk
