"""The risk by subgroup: equal to a groupby of the predictions, with intervals that hold together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, r2_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.risk.intervals.binomial import clopper_pearson


@pytest.fixture(scope="module")
def table():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return X, y, np.where(X["sex"] > 0, "men", "women")


def by_group(result, **wanted):
    frame = result.subgroups
    for name, value in wanted.items():
        frame = frame[frame[name] == value]
    return frame.set_index("group")


def test_risks_are_those_of_a_groupby(table):
    X, y, sex = table
    result = ho.evaluate(Ridge(), X, y, slices={"sex": sex}, loss=["squared", "absolute", "r2"], jobs=1)
    frame = result.predictions.assign(sex=sex[result.predictions["row"]])
    for loss in ("squared", "absolute"):
        found = by_group(result, loss=loss)["value"]
        pd.testing.assert_series_equal(
            found, frame.groupby("sex")[f"loss_{loss}"].mean(), check_names=False, check_index_type=False
        )
    for group, rows in frame.groupby("sex"):
        assert by_group(result, loss="r2").loc[group, "value"] == pytest.approx(r2_score(rows["y"], rows["predict"]))
    assert by_group(result, loss="squared")["rows"].to_dict() == frame["sex"].value_counts().to_dict()


def test_weights_weigh(table):
    X, y, sex = table
    weight = np.random.default_rng(0).integers(0, 3, len(y)).astype(float)
    result = ho.evaluate(Ridge(), X, y, slices={"sex": sex}, sample_weight=weight, loss="squared", jobs=1)
    frame = result.predictions
    for group, row in by_group(result).iterrows():
        own = frame[sex[frame["row"]] == group]
        assert row["value"] == pytest.approx(np.average(own["loss_squared"], weights=own["sample_weight"]))
        assert row["rows"] == (own["sample_weight"] > 0).sum()


def test_numbers_are_cut_at_their_quartiles(table):
    X, y, _ = table
    result = ho.evaluate(Ridge(), X, y, slices="age", loss="squared", jobs=1)
    frame = result.predictions
    quarter = pd.qcut(X["age"], 4, labels=False).to_numpy()[frame["row"]]
    np.testing.assert_allclose(result.subgroups["value"], frame["loss_squared"].groupby(quarter).mean())
    assert result.subgroups["group"].iloc[0].startswith("≤ ")
    assert "age" in result.record.plan["text"] or result.record.about["columns"] == 10  # it stays a feature


def test_intervals_hold_together_over_all_subgroups_of_all_slices(table):
    X, y, sex = table
    few = ho.evaluate(Ridge(), X, y, slices={"sex": sex}, loss="squared", jobs=1)
    more = ho.evaluate(Ridge(), X, y, slices={"sex": sex, "age": X["age"]}, loss="squared", jobs=1)
    assert few.subgroups["level"].unique() == pytest.approx([1 - 0.05 / 2])
    assert more.subgroups["level"].unique() == pytest.approx([1 - 0.05 / 6])
    narrow, wide = by_group(few), by_group(more, slice="sex")
    assert (wide["high"] > narrow["high"]).all()
    assert (wide["value"] == narrow["value"]).all()


def test_the_interval_of_a_subgroup_of_one_test_set_is_that_of_its_rows():
    X, y = load_breast_cancer(return_X_y=True)
    side = np.where(np.arange(len(y)) % 3 == 0, "left", "right")
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    result = ho.evaluate(learner, X, y, slices=side, test=ho.Holdout(0.5), loss="zero_one", jobs=1)
    frame = result.predictions
    for group, row in by_group(result, slice="slice 1").iterrows():
        errors = frame["loss_zero_one"][side[frame["row"]] == group]
        sure = clopper_pearson(int(errors.sum()), len(errors), level=1 - 0.05 / 2)
        assert (row["low"], row["high"]) == pytest.approx((sure.low, sure.high))
        assert row["method"] == result.risk.method == "Clopper–Pearson"


def test_small_groups_are_listed_without_an_interval_and_missing_values_are_a_group(table):
    X, y, _ = table
    region = np.array(["north"] * 300 + ["south"] * 120 + ["islet"] * 9 + [None] * 13, dtype=object)
    result = ho.evaluate(Ridge(), X, y, slices={"region": region}, loss="absolute", jobs=1)
    found = by_group(result)
    assert found["rows"].to_dict() == {"islet": 9, "north": 300, "south": 120, "missing": 13}
    assert found.loc["islet", "reason"] == "No interval: 9 rows are too few (10 at least)."
    assert np.isnan(found.loc["islet", "low"])
    assert found.loc["islet", "value"] > 0
    sentence = result.summary()["subgroups"]["sentence"]
    assert "1 of 4 subgroups has fewer than 10 rows" in sentence
    assert found["level"].unique() == pytest.approx([1 - 0.05 / 3])


def test_the_worst_is_named(table):
    X, y, _ = table
    rng = np.random.default_rng(0)
    place = np.where(rng.random(len(y)) < 0.3, "hard", "easy")
    y = y + np.where(place == "hard", rng.normal(scale=300, size=len(y)), 0)
    result = ho.evaluate(Ridge(), X, y, slices={"place": place}, loss=["squared", "r2"], jobs=1)
    summary = result.summary(figures=True)
    worst = by_group(result, loss="squared").loc["hard"]
    assert summary["subgroups"]["sentence"].startswith("The worst subgroup is place hard: mean squared error ")
    assert f"on {worst['rows']} rows" in summary["subgroups"]["sentence"]
    assert "which this interval excludes" in summary["subgroups"]["sentence"]
    assert summary["figures"]["subgroups"] == summary["subgroups"]
    assert "The worst subgroup is place hard" in " ".join(str(result).split())
    best = ho.evaluate(Ridge(), X, y, slices={"place": place}, loss="r2", jobs=1)
    assert "The worst subgroup is place hard: R²" in best.summary()["subgroups"]["sentence"]


def test_scores_of_sets_are_those_of_the_rows_or_say_why_not():
    X, y = load_breast_cancer(return_X_y=True)
    side = np.where(y == 1, "one class", np.where(np.arange(len(y)) % 2, "odd", "even"))
    side[::5] = "both"
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    result = ho.evaluate(learner, X, y, slices={"side": side}, loss=["f1", "roc_auc", "log"], jobs=1)
    frame = result.predictions.assign(side=side[result.predictions["row"]])
    both = frame[frame["side"] == "both"]
    scores, areas = by_group(result, loss="f1"), by_group(result, loss="roc_auc")
    assert scores.loc["both", "value"] == pytest.approx(f1_score(both["y"], both["predict"]))
    of_folds = [roc_auc_score(own["y"], own["proba_1"]) for _, own in both.groupby("fold")]
    assert areas.loc["both", "value"] == pytest.approx(np.mean(of_folds))
    assert areas.loc["both", "low"] < areas.loc["both", "value"] < areas.loc["both", "high"]
    assert np.isnan(areas.loc["one class", "value"])
    assert "not defined" in areas.loc["one class", "reason"]
    assert by_group(result, loss="log").loc["one class", "value"] > 0


def test_functions_lists_and_polars_name_slices_too(table):
    X, y, sex = table

    def older(frame):
        return frame["age"] > 0

    result = ho.evaluate(Ridge(), X, y, slices=[older, "bmi", pd.Series(sex, name="sex")], loss="mae", jobs=1)
    assert result.subgroups["slice"].unique().tolist() == ["older", "bmi", "sex"]
    assert by_group(result, slice="older").index.tolist() == ["False", "True"]
    frame = pl.from_pandas(X.assign(sex=sex, y=y))
    polars = ho.evaluate(make_pipeline(ho_numbers(), Ridge()), frame, "y", slices="sex", loss="mae", jobs=1)
    assert isinstance(polars.subgroups, pl.DataFrame)
    assert polars.subgroups["group"].to_list() == ["men", "women"]


def ho_numbers():
    from sklearn.compose import make_column_transformer

    return make_column_transformer(("passthrough", ["age", "bmi", "bp"]))


@pytest.mark.parametrize(
    ("slices", "words"),
    [
        ("regoin", "slices='regoin' is no column of X. Did you mean 'region'"),
        (np.arange(5), "one label for each of its 442 rows"),
        ({"a": np.zeros((442, 2))}, "shape (442, 2)"),
        ([np.zeros(442), np.ones(442), "region", "region"], "two that are called 'region'"),
    ],
)
def test_what_is_no_slice_is_refused_with_the_way_out(table, slices, words):
    X, y, _ = table
    with pytest.raises(ho.HeldoutError) as error:
        ho.evaluate(Ridge(), X.assign(region=0.0), y, slices=slices, jobs=1)
    assert words in str(error.value)


def test_withheld_answers_and_streams_refuse_subgroups(table, tmp_path):
    X, y, sex = table
    with pytest.raises(ho.HeldoutError, match="slices= tells more of the test rows than answer='value' allows"):
        ho.evaluate(Ridge(), X, y, slices=sex, test=ho.Holdout(0.5), options=ho.Options(answer="value"), jobs=1)
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ho.HeldoutError, match="slices= needs the rows at hand"):
        ho.evaluate(Ridge(), tmp_path / "rows.parquet", "y", slices="age", jobs=1)


def test_without_slices_the_way_to_ask_is_told(table):
    X, y, _ = table
    result = ho.evaluate(Ridge(), X, y, jobs=1)
    assert result.summary()["subgroups"] is None
    for ask in (lambda: result.subgroups, result.plot.subgroups):
        with pytest.raises(ho.HeldoutError, match="slices='region' names a column"):
            ask()


def test_subgroups_are_saved_and_compared(table, tmp_path):
    X, y, sex = table
    compared = ho.compare({"weak": Ridge(10), "strong": Ridge(0.1)}, X, y, slices={"sex": sex}, jobs=1)
    one, other = (result.subgroups for result in compared.results.values())
    assert (one["value"] != other["value"]).all()
    compared.results["weak"].save(tmp_path / "weak.heldout")
    loaded = ho.load(tmp_path / "weak.heldout")
    pd.testing.assert_frame_equal(loaded.subgroups, one)
    assert loaded.summary(figures=True)["figures"]["subgroups"]["rows"][0]["group"] == "men"
    assert loaded.plot.subgroups() is not None


def test_a_part_without_a_row_of_the_group_does_not_count(table):
    X, y, _ = table
    block = np.where(np.arange(len(y)) < 60, "first", "rest")
    result = ho.evaluate(
        Ridge(), X, y, slices={"block": block}, loss="squared", test=ho.KFold(4, shuffle=False), jobs=1
    )
    frame = result.predictions
    first = frame[block[frame["row"]] == "first"]
    assert first["fold"].nunique() == 1
    assert by_group(result).loc["first", "value"] == pytest.approx(first["loss_squared"].mean())


def test_the_familiar_score_leads_where_no_loss_was_asked_for(table):
    X, y, sex = table
    result = ho.evaluate(Ridge(), X, y, slices={"sex": sex}, jobs=1)
    assert result.subgroups["loss"].unique().tolist() == ["rmse", "squared"]
    np.testing.assert_allclose(
        by_group(result, loss="rmse")["value"], np.sqrt(by_group(result, loss="squared")["value"])
    )
    shown = result.summary()["subgroups"]
    assert (shown["loss"], shown["unit"], len(shown["rows"])) == ("RMSE", "target", 2)
    X, y = load_breast_cancer(return_X_y=True)
    learner = make_pipeline(StandardScaler(), LogisticRegression())
    result = ho.evaluate(learner, X, y, slices={"odd": np.arange(len(y)) % 2}, jobs=1)
    right = by_group(result, loss="accuracy")
    np.testing.assert_allclose(right["value"], 1 - by_group(result, loss="zero_one")["value"])
    assert (right["low"] > 0.9).all()
    assert "%" in result.summary()["subgroups"]["sentence"]


def test_a_fold_that_failed_leaves_no_value(table):
    X, y, sex = table

    class Fails(Ridge):
        def fit(self, X, y):
            if X["age"].iloc[0] == first:
                raise ValueError("no")
            return super().fit(X, y)

    first = X["age"].iloc[0]
    result = ho.evaluate(Fails(), X, y, slices={"sex": sex}, test=ho.KFold(4, shuffle=False), loss="mae", jobs=1)
    assert result.subgroups["value"].isna().all()
    assert result.subgroups["reason"].str.contains("failed").all()
    assert result.summary()["subgroups"]["sentence"] == "No subgroup has an interval."
    assert result.plot.subgroups() is not None


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        (np.arange("2020-01-01", "2020-04-30", dtype="datetime64[D]"), 4),
        (np.append(np.inf, np.arange(119.0)), 4),
        (pd.Series([None] * 20 + list(range(100)), dtype="Int64"), 5),
        (np.minimum(np.arange(120), 20), 1),
        (np.array([f"row {n}" for n in range(120)]), 30),
        (np.array([1, "a", None] * 40, dtype=object), 3),
        (np.arange(120) % 10, 10),
        (np.arange(120) % 2 == 0, 2),
        (np.full(120, np.nan), 1),
    ],
)
def test_slices_of_any_kind_hold_every_row_once(values, groups):
    X = np.random.default_rng(0).normal(size=(120, 3))
    found = ho.evaluate(Ridge(), X, X[:, 0], slices={"kind": values}, loss="mae", jobs=1).subgroups
    assert len(found) == found["group"].nunique() == groups
    assert found["rows"].sum() == 120


def test_labels_that_cannot_be_hashed_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 3))
    with pytest.raises(ho.HeldoutError, match="The slice 'kind' must hold labels that can be hashed"):
        ho.evaluate(Ridge(), X, X[:, 0], slices={"kind": pd.Series([[1]] * 20)}, jobs=1)
