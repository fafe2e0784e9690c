"""What a study says about itself: each finding where it belongs, silence elsewhere, through `evaluate`."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from harmless_studies import harmless_study
from scipy.sparse import csr_matrix
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import heldout as ho
from heldout.catalogue.entries import CATALOGUE
from heldout.catalogue.preparation import Table
from heldout.results.looks import FINE_BY_DEFAULT, RULES
from heldout.results.study_facts import last_step
from heldout.search.simplicity import KNOWN
from heldout.task.column_kinds import NUMBERS, ONE

RNG = np.random.default_rng(5)
X = RNG.normal(size=(300, 4))
TOLD = 1.2 * X[:, 0] + X[:, 1]
NUMBERS_Y = 10 * (TOLD + 0.7 * RNG.normal(size=300))
CLASSES_Y = (TOLD + 0.6 * RNG.normal(size=300) > 0).astype(int)
NOISE = RNG.normal(size=300)


def study(learner: Any, y: Any = NUMBERS_Y, *, X: Any = X, **asked: Any) -> ho.Result:
    return ho.evaluate(learner, X, y, **{"jobs": 1, "progress": False, **asked})


def said(result: ho.Result, code: str) -> str:
    """The severity and the message of a finding; an empty text if there is none."""
    found = [finding for finding in result.findings if finding.code == code]
    assert len(found) <= 1
    return f"{found[0].severity}: {found[0].message}" if found else ""


def not_looked(result: ho.Result, code: str) -> str:
    """Why a rule could not tell."""
    title = RULES[code][0]
    return next((text for text in result.summary()["checks"]["not_looked"] if text.startswith(f"{title} (")), "")


def test_harmless_studies_seldom_get_a_warning_and_no_rule_fails() -> None:
    fired, warned, count = Counter[str](), 0, 80
    for number in range(count):
        result = harmless_study(number)
        own = [finding for finding in result.findings if finding.code in RULES]
        fired.update(finding.code for finding in own)
        warned += any(finding.severity != "info" for finding in own)
        assert not any("it failed with" in text for text in result.summary()["checks"]["not_looked"])
    assert warned <= 0.05 * count, fired
    rare = {code: fired[code] for code in RULES if code != "H702"}  # that tuning gains nothing is often true
    assert max(rare.values()) <= 0.06 * count, fired


# H701


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (ho.Tuned(Lasso(), {"alpha": [10.0, 31.6, 100.0]}), "alpha=10, try 3.16, 1, 0.317 too"),
        (ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [60, 80, 100]}), "n_neighbors=60, try 40, 20 too"),
        (
            ho.Tuned(DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [2, 3, 4]}),
            "max_leaf_nodes=4, try 5, 6, 7",
        ),
        (
            ho.Tuned(make_pipeline(StandardScaler(), SVC()), {"svc__C": [0.001, 0.01, 0.1]}),
            "C=0.1, try 1, 10, 100 too",
        ),
    ],
)
def test_the_edge_of_the_grid_comes_with_the_values_to_try(learner: ho.Tuned, words: str) -> None:
    result = study(learner, CLASSES_Y if "SVC" in repr(learner) else NUMBERS_Y)
    assert words in said(result, "H701")
    assert said(result, "H701").startswith("info: The best candidate lies at the edge of the grid in most folds")


@pytest.mark.parametrize(
    ("learner", "y"),
    [
        (ho.Tuned(Ridge(), {"alpha": ho.log_grid(-9, -5, 5)}), NUMBERS_Y),  # flat towards no penalty
        (ho.Tuned(Ridge(), {"alpha": ho.log_grid(3, 6, 4)}), NOISE),  # flat towards a constant
        (ho.Tuned(KNeighborsClassifier(), {"n_neighbors": [1, 2, 3]}), X[:, 0] > 0),  # no fewer than one neighbour
        (ho.Tuned(Ridge(), {"alpha": [1e3, 1e4]}), NUMBERS_Y),  # two values are no grid
        (ho.Tuned(DecisionTreeRegressor(), {"criterion": ["squared_error", "absolute_error"]}), NUMBERS_Y),
        (ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 3, 7)}), NUMBERS_Y),
    ],
)
def test_an_edge_where_the_loss_is_flat_or_nothing_lies_beyond_is_not_worth_a_word(learner: ho.Tuned, y: Any) -> None:
    assert said(study(learner, y), "H701") == ""


def test_candidates_without_a_grid_have_no_edge() -> None:
    drawn = ho.Tuned(Ridge(), ho.Sample(4, {"alpha": [10.0**k for k in range(9)]}))
    assert "drawn at random" in not_looked(study(drawn), "H701")
    assert "nothing is tuned" in not_looked(study(Ridge()), "H701")
    one = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 3, 7)}, validation=ho.Holdout(0.3))
    assert "one validation part" in not_looked(study(one), "H701")


def test_false_alarms_of_the_edge_are_rare_on_grids_that_hold_the_best() -> None:
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(120, 10))
        y = rows @ np.full(10, 0.2) + rng.normal(size=120)
        found += bool(said(study(ho.Tuned(Ridge(), {"alpha": ho.log_grid(-2, 4, 13)}), y, X=rows), "H701"))
    assert found <= 3


# H702 and H703


def test_tuning_that_gains_nothing_is_said_with_the_candidate_that_stands_for_the_defaults() -> None:
    exact = said(study(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]})), "H702")
    assert exact.startswith("info: Tuning is not shown to beat the default parameters. On validation rows that did not")
    assert "alpha=1.0 does as well as what was chosen" in exact
    near = said(study(ho.Tuned(Ridge(), {"alpha": [0.5, 5.0, 50.0]})), "H702")
    assert "alpha=0.5 (for the default 1.0)" in near


def test_tuning_that_gains_is_not() -> None:
    noisy = TOLD + 3 * RNG.normal(size=300)
    result = study(ho.Tuned(KNeighborsRegressor(), {"n_neighbors": [1, 5, 15, 40, 60]}), noisy)
    assert said(result, "H702") == ""
    assert "H702" not in not_looked(result, "H702")


def test_defaults_that_are_no_candidate_are_fitted_by_all() -> None:
    learner = ho.Tuned(DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [4, 8, 16, 32]})
    assert 'checks="all" fits it' in not_looked(study(learner), "H702")
    every = study(learner, 10 * TOLD + 20 * NOISE, checks="all")
    assert said(every, "H702") == ""  # a tree that is fully grown is worse
    assert not_looked(every, "H702") == ""
    plain = study(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0, 10.0]}), checks="all")
    assert "No difference shown between this learner and the default parameters" in said(plain, "H702")


def test_default_parameters_are_said_where_learners_are_usually_tuned() -> None:
    inside = said(study(make_pipeline(StandardScaler(), Ridge())), "H703")
    assert inside.startswith("info: Ridge has its default parameters (alpha=1.0)")
    assert 'Tuned(learner, {"ridge__alpha": […]})' in inside
    for learner in (
        Ridge(alpha=2.0),
        RandomForestRegressor(10, random_state=0),
        ho.Tuned(Ridge(), {"alpha": [0.1, 10.0]}),
        DummyRegressor(),
    ):
        assert said(study(learner), "H703") == ""


def test_the_learners_that_usually_need_tuning_are_those_that_the_catalogue_tunes() -> None:
    kinds = {kind: ["x0"] if kind == NUMBERS else [] for kind in ONE}
    for entry in CATALOGUE.values():
        for make, classes in ((entry.classifier, 2), (entry.regressor, 0)):
            if make is None or entry.package is not None:
                continue
            name = type(last_step(make())[1]).__name__
            tuned = bool(entry.space(Table(rows=500, kinds=kinds, plain=True, classes=classes)))
            said_so = name in KNOWN and not any(word in name for word in FINE_BY_DEFAULT)
            assert said_so <= tuned, name
            assert tuned == said_so or any(word in name for word in FINE_BY_DEFAULT), name


# H704 and H705


@pytest.mark.parametrize(
    ("learner", "y"), [(Ridge(), NOISE), (LogisticRegression(), NOISE > 0), (KNeighborsClassifier(), NOISE > 0)]
)
def test_noise_is_no_better_than_no_model(learner: Any, y: Any) -> None:
    assert said(study(learner, y), "H704").startswith(
        "warning: The learner is not shown to be better than no model (alw"
    )


def test_a_learner_that_probably_is_better_is_advised_to_take_more_rows() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(40, 3))
    result = study(Ridge(alpha=5.0), rows[:, 0] + 2.0 * rng.normal(size=40), X=rows)
    assert "the rows are too few to show it (p = " in said(result, "H704")
    assert said(result, "H704").startswith("info: The learner looks better than no model (always answering the mean")


def test_a_learner_that_is_better_or_is_no_model_is_not_held_to_it() -> None:
    assert said(study(Ridge()), "H704") == said(study(LogisticRegression(), CLASSES_Y), "H704") == ""
    dummy = study(DummyClassifier(), NOISE > 0)
    assert said(dummy, "H704") == ""
    assert "the learner is no model itself" in not_looked(dummy, "H704")


def test_false_alarms_of_no_model_are_rare_and_noise_is_seldom_missed() -> None:
    alarms = misses = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(150, 3))
        told = (rows[:, 0] + rng.normal(size=150) > 0).astype(int)
        alarms += said(study(LogisticRegression(), told, X=rows), "H704").startswith("warning")
        misses += not said(study(LogisticRegression(), rng.integers(0, 2, 150), X=rows), "H704").startswith("warning")
    assert alarms <= 1
    assert misses <= 12


def test_a_linear_family_that_does_as_well_is_named() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(120, 3))
    y = rows[:, 0] + rng.normal(size=120)
    families = {
        "tree": (DecisionTreeRegressor(random_state=0), {"max_leaf_nodes": [3, 4, 6]}),
        "ridge": (Ridge(), {"alpha": [100.0]}),
    }
    result = study(ho.Tuned(families), y, X=rows)
    assert result.choices["family"].tolist().count("tree") >= 3
    assert said(result, "H705").startswith("info: The learner is not shown to be better than a linear model")
    assert "the best linear candidate does as well" in said(result, "H705")
    bent = study(ho.Tuned(families), np.abs(X[:, 0]) * 3 + 0.1 * NOISE)
    assert said(bent, "H705") == ""
    linear = study(Ridge())
    assert "the learner is linear itself" in not_looked(linear, "H705")
    assert 'checks="all" fits it' in not_looked(study(KNeighborsRegressor()), "H705")


# H706, H707


def test_a_fold_whose_rows_are_broken_is_named_with_its_numbers() -> None:
    folds = np.arange(300) % 5
    y = np.where(folds == 3, RNG.permutation(CLASSES_Y), CLASSES_Y)
    found = said(study(LogisticRegression(), y, test=ho.Given(folds=folds)), "H706")
    assert found.startswith("warning: Fold 3 is far from the others: its accuracy is ")
    assert "one of 500 studies" in found
    numbers = np.where(folds == 1, NUMBERS_Y + 60, NUMBERS_Y)
    assert "Fold 1 is far from the others: its RMSE is" in said(
        study(Ridge(), numbers, test=ho.Given(folds=folds)), "H706"
    )
    assert said(study(Ridge(), numbers, test=ho.Given(folds=folds), loss="r2"), "H706").startswith("warning: Fold 1")
    assert said(study(Ridge()), "H706") == ""


def test_folds_of_groups_are_judged_by_groups() -> None:
    rng = np.random.default_rng(0)
    patients = rng.integers(0, 30, 300)
    harder = rng.exponential(size=30)[patients]  # rows of a patient are as hard as each other
    y = NUMBERS_Y + 20 * harder * rng.normal(size=300)
    result = study(Ridge(), y, groups=patients)
    assert said(result, "H706") == ""
    assert not_looked(result, "H706") == ""
    assert "rows of a group are alike" in not_looked(result, "H707")


def test_rows_in_time_single_rows_and_repeated_rows_are_not_shuffled() -> None:
    assert "follow each other in time" in not_looked(study(Ridge(), time=np.arange(300)), "H706")
    assert "it takes three folds" in not_looked(study(Ridge(), test=ho.LeaveOneOut()), "H706")
    assert "held out more than once" in not_looked(study(Ridge(), test=ho.Resample(5)), "H707")
    assert not_looked(study(Ridge(), test=ho.KFold(5, repeats=2)), "H706") == ""  # of the first repeat


@pytest.mark.parametrize("kind", ["pandas", "polars", "numpy"])
def test_a_site_whose_rows_are_answered_worse_is_named(kind: str) -> None:
    sites = np.random.default_rng(2).integers(0, 4, 300)
    y = NUMBERS_Y + np.where(sites == 2, 40 * NOISE, 0)
    frame = pd.DataFrame(
        {**{f"x{place}": column for place, column in enumerate(X.T)}, "site": np.array([*"abcd"])[sites]}
    )
    table: Any = frame
    if kind == "polars":
        table = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    if kind == "numpy":
        table = np.column_stack([X, sites])
    columns = ["x0", "x1", "x2", "x3"]
    from sklearn.compose import ColumnTransformer

    kept = ColumnTransformer([("kept", StandardScaler(), [0, 1, 2, 3] if kind == "numpy" else columns)])
    found = said(study(make_pipeline(kept, Ridge(alpha=2.0)), y, X=table), "H707")
    name, level = ("'column 4'", "2") if kind == "numpy" else ("'site'", "c")
    assert found.startswith(f"info: The loss differs much between the levels of {name}: RMSE ")
    assert f"where it is {level}" in found
    assert said(study(make_pipeline(kept, Ridge(alpha=2.0)), NUMBERS_Y, X=table), "H707") == ""


# H708


def test_training_rows_answered_far_better_are_said_with_the_share_that_is_lost() -> None:
    tree = said(study(DecisionTreeRegressor(random_state=0), 10 * TOLD + 20 * NOISE), "H708")
    assert tree.startswith("info: Training rows are answered far better than held-out rows (RMSE 0 on training rows, ")
    assert "100% of what training gained is lost" in tree
    wide = make_pipeline(PolynomialFeatures(4), StandardScaler(), Ridge(alpha=1e-6))
    assert "far better than held-out rows" in said(study(wide, 10 * TOLD + 20 * NOISE), "H708")


def test_training_rows_answered_as_badly_as_without_a_model_are_said() -> None:
    stiff = said(study(Ridge(alpha=1e7)), "H708")
    assert stiff.startswith("info: Training rows are answered hardly better than without a model (RMSE ")


def test_a_good_fit_a_forest_and_a_learner_without_evidence_are_not() -> None:
    assert said(study(Ridge()), "H708") == ""
    assert said(study(RandomForestRegressor(20, random_state=0), 10 * TOLD + 20 * NOISE), "H708") == ""
    assert "gave no losses of their training rows" in not_looked(study(KNeighborsRegressor()), "H708")


# H709


def series(rows: int = 600, *, drift: float) -> tuple[Any, Any]:
    rng = np.random.default_rng(4)
    columns = rng.normal(size=(rows, 2))
    return columns, columns[:, 0] + (1 + drift * np.arange(rows) / rows) * rng.normal(size=rows)


def test_later_blocks_that_are_worse_say_what_to_expect() -> None:
    columns, y = series(drift=4.0)
    result = study(Ridge(alpha=0.5), y, X=columns, time=np.arange(600))
    found = said(result, "H709")
    assert found.startswith("warning: Later blocks are worse: RMSE ")
    blocks = np.sqrt(result.folds["squared"].to_numpy())
    assert f"Expect {blocks[-1]:.3g} or worse, not {np.sqrt(np.mean(blocks**2)):.3g}" in found
    assert "by chance one of 120 studies is so" in found


def test_blocks_of_a_steady_series_are_not() -> None:
    found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        columns = rng.normal(size=(200, 2))
        y = columns[:, 0] + rng.normal(size=200)
        found += bool(said(study(Ridge(alpha=0.5), y, X=columns, time=np.arange(200)), "H709"))
    assert found <= 3
    columns, y = series(drift=4.0)
    few = study(Ridge(alpha=0.5), y, X=columns, time=np.arange(600), test=ho.Forward(4))
    assert "it takes 5 blocks" in not_looked(few, "H709")


# H710 and H711: checks="all"


def test_boosting_is_a_yardstick_on_the_same_folds() -> None:
    bent = np.where(X[:, 0] * X[:, 1] > 0, 10.0, -10.0) + NOISE
    result = study(Ridge(alpha=0.5), bent, checks="all")
    assert said(result, "H710").startswith("info: Boosting does better on the same folds")
    assert said(result, "H710").count("boosting is better than this learner by") == 1
    assert said(study(Ridge(alpha=0.5), checks="all"), "H710") == ""
    assert 'checks="all" fits it' in not_looked(study(Ridge()), "H710")


def test_a_linear_model_is_a_yardstick_for_what_is_not_linear() -> None:
    tree = study(DecisionTreeRegressor(random_state=0), checks="all")
    assert "a plain linear model is better than this learner" in said(tree, "H705")
    bent = np.where(X[:, 0] * X[:, 1] > 0, 10.0, -10.0) + NOISE
    assert said(study(DecisionTreeRegressor(random_state=0, max_leaf_nodes=30), bent, checks="all"), "H705") == ""


@pytest.mark.parametrize("polars", [False, True])
def test_one_column_that_does_as_well_as_all_is_named(polars: bool) -> None:
    frame = pd.DataFrame({"age": X[:, 0], "city": np.array([*"abc"])[np.arange(300) % 3], "gaps": X[:, 2]})
    frame.loc[::7, "gaps"] = np.nan
    frame["leak"] = CLASSES_Y + 0.01 * NOISE
    learner = make_pipeline(ho_columns(["age", "leak"]), DecisionTreeClassifier(max_leaf_nodes=8, random_state=0))
    table: Any = frame
    if polars:
        table = pytest.importorskip("polars").from_pandas(frame) if has_pyarrow() else pytest.skip("pyarrow is missing")
    found = said(study(learner, CLASSES_Y, X=table, checks="all"), "H711")
    assert found.startswith("info: The column 'leak' alone does as well as all columns")
    both = (X[:, 0] + X[:, 1] > 0).astype(int)
    honest = study(LogisticRegression(C=0.5), both, checks="all")
    assert said(honest, "H711") == ""
    assert not_looked(honest, "H711") == ""


def has_pyarrow() -> bool:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return False
    return True


def ho_columns(names: list[str]) -> Any:
    from sklearn.compose import ColumnTransformer

    return ColumnTransformer([("kept", "passthrough", names)])


def test_columns_that_no_fold_uses_are_named_and_used_ones_are_not() -> None:
    told = study(Lasso(alpha=3.0), checks="all")
    assert said(told, "H712").startswith(
        "info: 2 of 4 columns are used by nothing: permuting them changes no answer of any"
    )
    assert "(x2, x3)" in said(told, "H712")
    assert said(study(Ridge(alpha=0.5), checks="all"), "H712") == ""
    assert said(study(LogisticRegression(C=0.5), CLASSES_Y, checks="all"), "H712") == ""  # by probabilities
    trees = DecisionTreeClassifier(max_depth=1, random_state=0)
    assert "used by nothing" in said(study(trees, X[:, 0] > 0, checks="all"), "H712")
    assert 'checks="all" fits it' in not_looked(study(Ridge()), "H712")
    sparse = study(Ridge(), X=csr_matrix(X), checks="all")
    assert not_looked(sparse, "H712")
    assert "H712" not in {finding.code for finding in sparse.findings}


def test_false_alarms_of_yardsticks_are_rare() -> None:
    found = Counter[str]()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(200, 3))
        y = rows.sum(axis=1) + 0.5 * rng.normal(size=200)
        result = study(Ridge(alpha=0.5), y, X=rows, checks="all")
        found.update(finding.code for finding in result.findings if finding.code in ("H705", "H710", "H711", "H712"))
    assert not found


def test_explain_prices_the_yardsticks() -> None:
    plain, every = (ho.explain(Ridge(), X, NUMBERS_Y, checks=checks) for checks in ("quick", "all"))
    assert every.fits - plain.fits == 5 * (
        1 + 2 * 4
    )  # boosting, and a tree and a line on four columns; the learner is linear itself
    assert "yardsticks" in str(every)
    tuned = ho.explain(ho.Tuned(Ridge(), {"alpha": [0.1, 1.0]}), X, NUMBERS_Y, checks="all")
    assert "untuned learner" in str(tuned)


def test_yardsticks_change_no_number_of_the_study() -> None:
    quick, every = (study(Ridge(), checks=checks) for checks in ("quick", "all"))
    assert quick.risk == every.risk
    pd.testing.assert_frame_equal(quick.predictions, every.predictions)


def test_one_test_set_is_not_looked_at_by_yardsticks(fresh_ledger: Any) -> None:
    result = study(Ridge(), test=ho.Holdout(0.3), checks="all")
    assert "use compare, or KFold" in not_looked(result, "H710")
    assert len(fresh_ledger.looks()) == 1
    frozen = FrozenEstimator(Ridge().fit(X[:200], NUMBERS_Y[:200]))
    assert "use compare, or KFold" in not_looked(
        study(frozen, test=ho.Given(np.arange(200, 300)), checks="all"), "H711"
    )


def test_a_yardstick_whose_fit_fails_is_no_failure_of_the_study(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.ensemble import HistGradientBoostingRegressor

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(HistGradientBoostingRegressor, "fit", fail)
    result = study(Ridge(alpha=0.5), checks="all")
    assert result.risk.value is not None
    assert "a fit of boosting failed" in not_looked(result, "H710")
    assert not {finding.code for finding in result.findings} & {"H202", "H203"}


# all of them


def test_none_looks_for_nothing_and_ignored_numbers_are_left_out() -> None:
    nothing = study(Ridge(), NOISE, checks="none")
    assert not {finding.code for finding in nothing.findings} & set(RULES)
    some = study(Ridge(), NOISE, ignore="h704, H703")
    assert not {finding.code for finding in some.findings} & {"H703", "H704"}
    assert {finding.code for finding in study(Ridge(), NOISE).findings} >= {"H703", "H704"}


def test_what_was_looked_for_is_listed_and_kept(tmp_path: Any) -> None:
    result = study(Ridge())
    checks = result.summary()["checks"]
    every = [*checks["looked"], *checks["not_looked"]]
    assert all(sum(text.startswith(title) for text in every) == 1 for title, _ in RULES.values())
    assert checks["found"] == {
        **dict.fromkeys(("error", "warning", "info"), 0),
        **Counter(f.severity for f in result.findings),
    }
    assert "the learner is not shown to be better than no model" in checks["looked"]
    result.save(tmp_path / "result.heldout")
    loaded = ho.load(tmp_path / "result.heldout")
    assert loaded.findings == result.findings
    assert loaded.summary()["checks"] == checks


def test_a_coarse_answer_withholds_what_comes_from_test_rows() -> None:
    asked = {"test": ho.Holdout(0.3), "options": ho.Options(answer="rounded:0.1")}
    result = study(KNeighborsClassifier(), NOISE > 0, **asked)
    assert {finding.code for finding in result.findings if finding.code in RULES} == {"H703"}


def test_a_comparison_names_the_learner_that_a_warning_is_about() -> None:
    found = ho.compare({"knn": KNeighborsClassifier(), "tree": DecisionTreeClassifier()}, X, NOISE > 0, jobs=1)
    messages = [finding.message for finding in found.findings if finding.code == "H704"]
    assert [message.split(":")[0] for message in messages] == ["knn, tree"]  # the same words of both are one finding


def test_estimators_that_declare_no_bounds_are_asked_for_none() -> None:
    class Own(Ridge):  # type: ignore[misc]
        _parameter_constraints: ClassVar[dict[str, Any]] = {}

    result = study(ho.Tuned(Own(), {"alpha": [1e3, 3e3, 1e4]}))
    assert "alpha=1000, try 333, 111, 37 too" in said(result, "H701")
