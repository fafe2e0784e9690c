"""`compare`: same splits for all, what is refused, what is said of failures, roles and hostile names."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.base.errors import FitFailed, LearnerError, LossError, OptionError
from heldout.report.show import as_text
from heldout.risk.comparison.pairs import holm, mcnemar
from heldout.risk.intervals.t_intervals import corrected_t

DIABETES = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
REGRESSORS = {"ridge": Ridge(alpha=0.1), "kNN": KNeighborsRegressor(10), "mean": DummyRegressor()}
CLASSIFIERS = {"bayes": GaussianNB(), "prior": DummyClassifier(), "stump": DecisionTreeClassifier(max_depth=1)}


class Breaks(RegressorMixin, BaseEstimator):
    """Fails where a fold holds out row 0, or always."""

    def __init__(self, always=False):
        self.always = always

    def fit(self, X, y):
        if self.always or X[0, 0] != DIABETES[0][0, 0]:
            raise RuntimeError("no\x1b[31m luck")
        self.mean_ = y.mean()
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_every_learner_has_the_numbers_that_evaluate_gives_it():
    found = ho.compare(REGRESSORS, *DIABETES, test=ho.KFold(5), seed=3)
    for name, learner in REGRESSORS.items():
        alone = ho.evaluate(learner, *DIABETES, test=ho.KFold(5), seed=3)
        assert found.results[name].risk == alone.risk
        assert found.results[name].folds.equals(alone.folds)
    assert list(found.ranking) == ["ridge", "kNN", "mean"]
    assert len({result.record.about["splits_fingerprint"] for result in found.results.values()}) == 1


def losses_of(found, loss):
    """The losses of rows of the first two learners, in the order of rows."""
    tables = [result.predictions.sort_values("row") for result in found.results.values()]
    return [table[f"loss_{loss}"].to_numpy() for table in tables]


@pytest.mark.parametrize("test", [ho.KFold(10), ho.KFold(5, repeats=3), ho.LeaveOneOut()], ids=str)
def test_the_table_holds_the_interval_of_the_paired_rows(test):
    X, y = (part[:90] for part in DIABETES)
    found = ho.compare({name: REGRESSORS[name] for name in ("ridge", "kNN")}, X, y, test=test)
    ridge, knn = losses_of(found, "squared")
    repeats = len(ridge) // 90
    differences = (ridge - knn).reshape(90, repeats)
    # The spread is that of single losses, over 90 rows however often each was held out.
    error = 1.3 * np.sqrt(90 / 89 * np.mean((differences - differences.mean()) ** 2) / 90)
    half = stats.t.ppf(0.975, 89) * error
    (row,) = found.table.to_dict("records")
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=1e-9)
    assert row["p"] == pytest.approx(2 * stats.t.sf(abs(row["difference"]) / error, 89), rel=1e-9)
    assert row["chance_first_better"] == pytest.approx(stats.t.cdf(-row["difference"] / error, 89))
    assert (row["method"], row["guarantee"]) == ("paired rows", "heuristic")
    assert "of the learners, not of these" in found.pairs[0].difference.estimand


def test_the_corrected_t_of_fold_differences_is_there_on_request():
    learners = {name: REGRESSORS[name] for name in ("ridge", "kNN")}
    found = ho.compare(learners, *DIABETES, test=ho.KFold(10), options=ho.Options(interval="corrected-t"))
    ridge, knn = (found.results[name].folds["squared"].to_numpy() for name in ("ridge", "kNN"))
    rows = found.results["ridge"].folds  # folds of 442 rows are not quite of one size
    ratio = rows["held_rows"].sum() / rows["train_rows"].sum()
    expected = corrected_t(ridge - knn, test_ratio=ratio, level=0.95)
    (row,) = found.table.to_dict("records")
    assert row["difference"] == pytest.approx((ridge - knn).mean(), rel=1e-12)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), rel=1e-12)
    assert row["chance_first_better"] + row["chance_second_better"] == pytest.approx(1)
    assert (row["method"], row["guarantee"]) == ("corrected t", "heuristic")


def test_one_test_set_is_compared_row_by_row():
    found = ho.compare({"a": GaussianNB(), "b": DummyClassifier()}, *CANCER, test=ho.Holdout(0.3, stratify=False))
    wrong = [found.results[name].predictions["loss_zero_one"].to_numpy() for name in ("a", "b")]
    (row,) = found.table.to_dict("records")
    assert (row["p"], row["p_method"], row["method"]) == (mcnemar(*wrong), "exact McNemar", "betting")
    assert row["guarantee"] == "finite-sample"
    assert row["verdict"] == "first better"


def test_frozen_predictors_on_given_rows():
    X, y = CANCER
    rows = np.arange(300, 569)
    frozen = {
        "bayes": FrozenEstimator(GaussianNB().fit(X[:300], y[:300])),
        "prior": FrozenEstimator(DummyClassifier().fit(X[:300], y[:300])),
    }
    found = ho.compare(frozen, X, y, test=ho.Given(rows))
    assert found.table["verdict"].tolist() == ["first better"]


def test_tuned_learners_are_learners():
    tuned = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ho.log_grid(-2, 2, 3)})
    found = ho.compare([tuned, LinearRegression(), LinearRegression()], *DIABETES, test=ho.KFold(3))
    assert set(found.ranking) == {"Tuned Ridge", "LinearRegression", "LinearRegression 2"}
    same = found.pairs[-1]
    assert (same.difference.value, same.p, str(same.verdict)) == (0.0, 1.0, "no difference shown")
    assert "lost the same on all 442 rows" in same.sentence


def test_scores_are_shown_in_their_own_sign():
    learners = {"bayes": GaussianNB(), "prior": DummyClassifier()}
    found = ho.compare(learners, *CANCER, loss="roc_auc", test=ho.KFold(5, stratify=False))
    (row,) = found.table.to_dict("records")
    assert 0 < row["low"] < row["difference"] < row["high"]
    assert found.sentences[0].startswith("bayes is better than prior by 0.")
    assert list(found.ranking) == ["bayes", "prior"]


@pytest.mark.parametrize(
    ("test", "roles"),
    [
        (None, {}),
        (ho.KFold(4, repeats=2), {}),
        (ho.Resample(6), {}),
        (ho.Holdout(0.3), {}),
        (ho.KFold(5), {"groups": np.arange(569) // 3}),
        (ho.KFold(5), {"sample_weight": np.random.default_rng(0).uniform(0.5, 2, 569)}),
    ],
    ids=["folds", "repeats", "resamples", "one test set", "groups", "weights"],
)
def test_areas_have_paired_intervals_however_rows_are_held_out(test, roles):
    learners = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1), "prior": DummyClassifier()}
    found = ho.compare(learners, *CANCER, loss="roc_auc", test=test, **roles)
    best, to_none, _ = found.pairs
    assert {pair.difference.method for pair in found.pairs} == {"paired rows"}
    assert {pair.p_method for pair in found.pairs} == {"paired rows"}
    assert found.table["verdict"].tolist() == ["first better"] * 3
    assert 0.03 < best.difference.low < best.difference.value < best.difference.high < 0.2
    assert best.difference.value == pytest.approx(found.ranking["bayes"].value - found.ranking["stump"].value)
    assert to_none.difference.high - to_none.difference.low < best.difference.high - best.difference.low
    assert [pair.p_holm for pair in found.pairs] == holm([pair.p for pair in found.pairs])


def test_areas_know_labels_that_are_words():
    X, y = CANCER
    learners = {"bayes": GaussianNB(), "prior": DummyClassifier()}
    folds = list(StratifiedKFold(5).split(X, y))
    codes = (1 - y, 2 - y, np.array(["benign", "malign"])[1 - y])
    plain, *others = (ho.compare(learners, X, one, loss="roc_auc", test=folds).pairs[0].difference for one in codes)
    assert 0.4 < plain.low < plain.value < plain.high
    for other in others:
        assert (other.low, other.value, other.high) == pytest.approx((plain.low, plain.value, plain.high))


def test_stratified_folds_give_a_score_that_asks_the_predictor_no_interval():
    def score(model, X, y):
        return roc_auc_score(y, model.predict_proba(X)[:, 1])

    found = ho.compare({"bayes": GaussianNB(), "prior": DummyClassifier()}, *CANCER, loss={"own": score})
    assert found.table["verdict"].tolist() == ["no difference shown"]
    assert "KFold(…, stratify=False) gives an interval" in found.sentences[0]


def test_groups_are_obeyed_and_weights_enter():
    X, y = DIABETES
    groups = np.arange(len(y)) // 3
    weight = np.random.default_rng(0).random(len(y))
    learners = {name: REGRESSORS[name] for name in ("ridge", "mean")}
    found = ho.compare(learners, X, y, groups=groups, sample_weight=weight)
    assert found.table["verdict"].tolist() == ["first better"]
    held = found.results["ridge"].predictions
    assert held.assign(group=groups[held["row"]]).groupby("group")["fold"].nunique().max() == 1


def test_rows_in_time_are_compared_by_five_stretches():
    X, y = DIABETES
    when = np.random.default_rng(0).permutation(len(y))
    found = ho.compare({"ridge": Ridge(alpha=0.1), "mean": DummyRegressor()}, X, y, time=when, test=ho.Forward(4))
    first, second = (
        result.predictions.assign(when=lambda table: when[table["row"]]).sort_values("when")["loss_squared"].to_numpy()
        for result in found.results.values()
    )
    means = [np.mean(batch) for batch in np.array_split(first - second, 5)]
    (row,) = found.table.to_dict("records")
    half = stats.t.ppf(0.975, 4) * np.std(means, ddof=1) / np.sqrt(5)
    assert (row["method"], row["p_method"]) == ("five batch means", "five batch means")
    assert row["high"] - row["low"] == pytest.approx(2 * half, rel=1e-9)


def test_few_rows_in_time_give_a_difference_but_no_verdict():
    X, y = (part[:30] for part in DIABETES)
    found = ho.compare(REGRESSORS, X, y, time=np.arange(30), test=ho.Forward(2))
    assert found.table["verdict"].unique().tolist() == ["no difference shown"]
    assert found.table["difference"].notna().all()
    assert all("time" in sentence for sentence in found.sentences)


def test_repeats_have_paired_rows_and_five_by_two_where_it_is_asked_for():
    question = {"learners": {"ridge": Ridge(), "mean": DummyRegressor()}, "X": DIABETES[0], "y": DIABETES[1]}
    usual = ho.compare(**question, test=ho.KFold(2, repeats=5))
    assert usual.table["method"].tolist() == usual.table["p_method"].tolist() == ["paired rows"]
    asked = ho.compare(**question, test=ho.KFold(2, repeats=5), options=ho.Options(interval="5x2"))
    assert asked.table["method"].tolist() == asked.table["p_method"].tolist() == ["5×2 combined F"]


def test_a_learner_that_fails_leaves_the_others_to_go_on():
    learners = {"ridge": Ridge(), "some": Breaks(), "all": Breaks(always=True), "mean": DummyRegressor()}
    found = ho.compare(learners, *DIABETES, test=ho.KFold(3, shuffle=False))
    assert list(found.ranking) == ["ridge", "mean", "some", "all"]
    assert found.ranking["some"].value is found.ranking["all"].value is None
    assert set(found.results) == {"ridge", "some", "mean"}
    assert set(found.failures) == {"all"}
    verdicts = {(row["first"], row["second"]): row["verdict"] for row in found.table.to_dict("records")}
    assert verdicts.pop(("ridge", "mean")) == "first better"
    assert set(verdicts.values()) == {"not compared"}
    text = str(found)
    assert "mean is worse; some cannot be compared." in text
    assert "ridge and some cannot be compared" in as_text("comparison with pairs", found.summary())
    assert "\x1b" not in text
    assert any(finding.code == "H202" for finding in found.findings)


def test_where_no_learner_works_there_is_nothing_to_compare():
    with pytest.raises(FitFailed, match=r"Not one of the 2 learners worked\. The first, 'a'"):
        ho.compare({"a": Breaks(always=True), "b": Breaks(always=True)}, *DIABETES)


def test_names_with_markup_are_shown_as_they_are():
    found = ho.compare({"[bold]<b>&": Ridge(), "{0}%s": DummyRegressor()}, *DIABETES, rope=1)
    assert "Best: [bold]<b>&, RMSE " in str(found)
    assert "\n  {0}%s is worse." in str(found)


def test_the_summary_is_plain_and_the_text_is_made_from_it():
    found = ho.compare(REGRESSORS, *DIABETES, rope=50)
    summary = json.loads(json.dumps(found.summary(), allow_nan=False))
    assert [row["name"] for row in summary["ranking"]] == ["ridge", "kNN", "mean"]
    assert [row["sentence"] for row in summary["pairs"]] == list(found.sentences)
    assert "Best: ridge, RMSE 55.3 (51.5 to 59.4)." in str(found)
    text = as_text("comparison with pairs", found.summary())
    for sentence in found.sentences:
        assert sentence in text
        assert sentence not in str(found)
    text = " ".join(text.split())
    assert "they hold together at 95 %, each at 98.33 %" in text
    assert "within ±50" in text
    assert repr(found) == "<Comparison of ridge, kNN, mean by squared>"


def test_frames_come_in_the_users_library():
    X = pl.DataFrame(DIABETES[0]).with_columns(target=pl.Series(DIABETES[1]))
    found = ho.compare({"ridge": Ridge(), "mean": DummyRegressor()}, X, "target")
    assert isinstance(found.table, pl.DataFrame)
    assert found.table["verdict"].to_list() == ["first better"]


def test_the_same_question_gives_the_same_numbers_in_any_order_of_work():
    one = ho.compare(REGRESSORS, *DIABETES)
    two = ho.compare(dict(reversed(REGRESSORS.items())), *DIABETES, options=ho.Options(queue_seed=5))
    assert one.ranking == two.ranking
    assert [pair.difference.value for pair in one.pairs] == [-pair.difference.value for pair in two.pairs[::-1]]


def test_pairs_of_rows_from_a_generator_serve_all_learners():
    splits = ShuffleSplit(3, random_state=0).split(DIABETES[0])
    found = ho.compare({"ridge": Ridge(), "mean": DummyRegressor()}, *DIABETES, test=splits)
    assert found.results["mean"].risk.value is not None


def test_a_second_comparison_on_the_same_test_rows_says_so():
    learners = {"bayes": GaussianNB(), "prior": DummyClassifier()}
    first = ho.compare(learners, *CANCER, test=ho.Holdout(0.3), checks="none")
    again = ho.compare(learners, *CANCER, test=ho.Holdout(0.3), checks="none")
    other = ho.compare({**learners, "stump": CLASSIFIERS["stump"]}, *CANCER, test=ho.Holdout(0.3))
    assert first.findings == again.findings == ()  # asking the same again is no new look
    assert "looked at before" in str(other)


@pytest.mark.parametrize(
    ("learners", "words"),
    [
        ({"a": Ridge()}, "at least two learners, and there is 1"),
        ({}, "at least two learners, and there is none"),
        ([Ridge()], "at least two learners"),
        (Ridge(), "this is a Ridge"),
        ([("a", Ridge()), ("a", Ridge())], "this is a list"),
        ({"a": Ridge(), "a ": Ridge()}, "Two learners are called 'a'"),
        ({"a": Ridge(), 2: Ridge()}, "2 is no printable text"),
        ({"a": Ridge(), "b\x1b[2J": Ridge()}, "no printable text"),
        ({"a": Ridge(), "": Ridge()}, "no printable text"),
        ({"a": Ridge(), "b" * 101: Ridge()}, "at most 100 characters"),
        ({"a": Ridge(), "b": Ridge}, "Learner 'b': Ridge is a class"),
        ({"a": Ridge(), "b": None}, "Learner 'b'"),
        ({"a": Ridge(), "b": LogisticRegression()}, "'b' predicts classes and 'a' numbers"),
    ],
)
def test_what_cannot_be_compared_is_refused(learners, words):
    X, y = DIABETES
    with pytest.raises(LearnerError, match=None) as caught:
        ho.compare(learners, X, (y > 140).astype(int))
    assert words in str(caught.value)


@pytest.mark.parametrize("rope", [0, -1, float("nan"), float("inf"), True, "0.1"])
def test_a_rope_is_a_positive_number(rope):
    with pytest.raises(OptionError, match="rope="):
        ho.compare(REGRESSORS, *DIABETES, rope=rope)


def test_learners_that_choose_by_different_losses_must_be_told_which_to_compare_by():
    tuned = ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}, loss="absolute")
    learners = {"tuned": tuned, "mean": DummyRegressor()}
    with pytest.raises(LossError, match="own loss of 'tuned' is 'absolute', that of 'mean' is 'squared'"):
        ho.compare(learners, *DIABETES)
    assert ho.compare(learners, *DIABETES, loss="absolute", test=ho.KFold(3)).about["loss"] == "absolute"


def test_a_comparison_tells_more_than_a_coarse_answer_allows():
    with pytest.raises(OptionError, match="A comparison tells more"):
        ho.compare(CLASSIFIERS, *CANCER, test=ho.Holdout(0.3), options=ho.Options(answer="rounded:0.01"))


def test_missing_features_fail_the_learner_that_cannot_take_them():
    X, y = CANCER[0].copy(), CANCER[1]
    X[::7, 0] = np.nan
    found = ho.compare({"tree": DecisionTreeClassifier(max_depth=2), "bayes": GaussianNB()}, X, y)
    assert found.ranking["bayes"].value is None
    assert found.ranking["tree"].value is not None
    assert found.table["verdict"].tolist() == ["not compared"]


class Constant(ClassifierMixin, BaseEstimator):
    """Says what it was told."""

    def __init__(self, label=0):
        self.label = label

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.label)


def test_scores_of_one_test_set_that_ask_the_predictor_have_no_interval():
    def score(model, X, y):
        return roc_auc_score(y, model.predict_proba(X)[:, 1])

    found = ho.compare(
        {"a": GaussianNB(), "b": LogisticRegression(solver="liblinear")},
        *CANCER,
        test=ho.Holdout(0.3),
        loss={"own": score},
    )
    assert found.table["low"].isna().all()
    assert "belongs to whole sets" in found.sentences[0]


def test_opposite_predictors_on_a_tiny_test_set():
    X, y = CANCER
    found = ho.compare({"0": Constant(0), "1": Constant(1)}, X, y, test=ho.Given([0, 1, 2]))
    (row,) = found.table.to_dict("records")
    assert row["verdict"] == "no difference shown"  # three rows show nothing
    assert (row["difference"], row["low"]) == (-1.0, -1.0)
    assert row["high"] > 0


def test_a_doubt_about_one_learner_names_it_once_by_the_score_that_leads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60) + 40.0 * (np.arange(60) == 7)
    compared = ho.compare({"ridge": Ridge(), "again": Ridge(), "knn": KNeighborsRegressor(1)}, X, y)
    doubts = [one.message for one in compared.findings if one.code == "H302"]
    heads = ["ridge, again: A few large errors decide the RMSE: ", "knn: A few large errors decide the RMSE: "]
    assert [text[: text.index("the largest")] for text in doubts] == heads
    assert not any("squared" in text for text in doubts)
