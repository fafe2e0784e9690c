"""Races of real studies: the same choices for fewer fits, told in the plan, the tables and the findings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris, make_classification, make_friedman1, make_regression
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier

import heldout as ho
from heldout.base.errors import FitFailed, OptionError
from heldout.base.events import StepDone

X, y = make_classification(100, 6, n_informative=4, class_sep=1.5, random_state=0)
SPACE = {"C": ho.log_grid(-3, 3, 6), "gamma": ho.log_grid(-4, 1, 3)}
EXACT = ho.Options(race="exact")
FITTED = {"vectors": False}  # every machine by a fit of its own, which the journal keeps cell by cell


def tuned(estimator=None, space=None, **how):
    return ho.Tuned(SVC() if estimator is None else estimator, SPACE if space is None else space, **how)


def evaluate(learner, data=(X, y), **how):
    return ho.evaluate(learner, *data, **{"test": ho.KFold(3), "jobs": 1, "progress": False} | how)


def record_of(result):
    return next(one for one in result.plan.passes if one.name == "race")


def same_choices(raced, whole):
    columns = [name for name in whole.choices if name != "failed_candidates"]
    pd.testing.assert_frame_equal(raced.choices[columns], whole.choices[columns])
    pd.testing.assert_frame_equal(raced.folds, whole.folds)
    pd.testing.assert_frame_equal(raced.predictions, whole.predictions)


@pytest.mark.parametrize(
    "learner",
    [
        tuned(validation=ho.KFold(8)),
        tuned(validation=ho.KFold(5, repeats=2), final="ensemble"),
        tuned(validation=ho.Resample(12, held_out=0.2), loss=["roc_auc", "zero_one"]),
        tuned(loss="matthews_corrcoef"),
        tuned(make_pipeline(StandardScaler(), SVC()), {f"svc__{name}": values for name, values in SPACE.items()}),
        tuned(RandomForestClassifier(random_state=0), {"n_estimators": [1, 3, 9], "max_depth": [1, 3, None]}),
        tuned({"svc": (SVC(), SPACE), "tree": (DecisionTreeClassifier(), {"max_depth": [1, 2, 4, 8]})}, space=()),
        GridSearchCV(SVC(), {"C": [1e-3, 1.0, 10.0], "gamma": [1e-3, 0.1, 10.0]}, cv=4),
    ],
    ids=lambda one: str(one)[:40],
)
def test_the_exact_race_changes_no_choice_and_no_answer(learner):
    if isinstance(learner, ho.Tuned) and learner.space == ():
        learner.set_params(space=None)
    raced, whole = evaluate(learner, options=EXACT), evaluate(learner)
    same_choices(raced, whole)
    record = record_of(raced)
    assert record.fits_after <= record.fits_before
    assert raced.risk == whole.risk


def test_it_skips_a_fifth_of_the_fits_of_fifty_candidates():
    space = {"C": ho.log_grid(-2, 3, 10), "gamma": ho.log_grid(-4, 1, 5)}
    skipped = []
    for seed in range(3):
        data = make_classification(200, 8, n_informative=4, flip_y=0.2, random_state=seed)
        learner = tuned(space=space, validation=ho.KFold(10), random_state=seed)
        raced, whole = (evaluate(learner, data, test=ho.Holdout(0.2), options=o) for o in (EXACT, ho.Options()))
        same_choices(raced, whole)
        skipped.append(1 - record_of(raced).fits_after / record_of(raced).fits_before)
    assert np.mean(skipped) >= 0.2


@pytest.mark.parametrize("kind", ["hoeffding", "bernstein", "paired"])
def test_statistical_races_say_what_they_may_have_lost(kind):
    options = ho.Options(race=kind, race_level=0.01)
    result = evaluate(tuned(validation=ho.KFold(10)), options=options)
    (finding,) = [one for one in result.findings if one.code == "H208"]
    assert "0.01" in finding.message
    assert "probability" in finding.message
    assert "tier statistical" in record_of(result).note
    assert result.summary()["about"]["race"]["level"] == 0.01


def test_tables_tell_what_was_not_finished():
    raced, whole = evaluate(tuned(validation=ho.KFold(10)), options=EXACT), evaluate(tuned(validation=ho.KFold(10)))
    table = raced.candidates
    assert "unfinished_parts" not in whole.candidates
    left = table["unfinished_parts"].to_numpy()
    assert left.any()
    assert (table["failed_parts"] == 0).all()
    assert table["validation_zero_one"].isna().to_numpy().tolist() == (left > 0).tolist()
    done = table[left == 0]
    pd.testing.assert_frame_equal(done.drop(columns="unfinished_parts"), whole.candidates.loc[done.index])
    run = raced.candidates["parts"].sum() - left.sum()
    assert record_of(raced).fits_after == run
    about = raced.summary()["about"]["race"]
    assert (about["cells_run"], about["cells"]) == (run, len(table) * 10)
    assert raced.predictor is not None  # the choice on all rows is raced too
    for name in ("best_validation_bbc", "best_validation_tt"):
        assert raced.estimates[name].value is None
        assert "race" in raced.estimates[name].reason


def test_explain_says_at_most_how_many_fits():
    plan = ho.explain(tuned(validation=ho.KFold(10)), X, y, test=ho.KFold(3), options=EXACT)
    assert "race: 540 → 540 fits" in str(plan)
    assert "at most 540 fits" in str(plan)
    assert "10 rounds" in str(plan)
    assert plan.fits == 543


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (ho.Tuned(SVC(), {"C": [1.0, 10.0]}, validation=ho.SharedBlocks()), "folds share their fits"),
        (ho.Tuned(DecisionTreeClassifier(random_state=0), {"ccp_alpha": [0.0, 0.01]}), "read off one fit"),
        (ho.Tuned(SVC(), {"C": [1.0]}), "one candidate"),
        (SVC(), "nothing is chosen"),
    ],
)
def test_where_a_race_saves_nothing_the_plan_says_so_and_is_followed(learner, words):
    plan = ho.explain(learner, X, y, test=ho.KFold(3), options=EXACT)
    assert words in str(plan)
    assert "race: not used" in str(plan)
    raced, whole = evaluate(learner, options=EXACT), evaluate(learner)
    assert raced.plan.fits == whole.plan.fits
    assert raced.risk == whole.risk
    assert not [one for one in raced.findings if one.code == "H208"]


def test_a_kernel_that_answers_all_together_is_not_raced():
    data = make_regression(80, 5, noise=5.0, random_state=0)
    learner = ho.Tuned(Ridge(), {"alpha": ho.log_grid(-3, 3, 7)})
    options = ho.Options(race="paired")
    assert "ridge answers 7 candidates together, and none is left to race" in str(
        ho.explain(learner, *data, options=options)
    )
    assert evaluate(learner, data, options=options).risk == evaluate(learner, data).risk


def test_machines_on_shared_matrices_count_as_fits_and_are_raced():
    plan = ho.explain(tuned(validation=ho.KFold(4)), X, y, test=ho.KFold(3), options=EXACT)
    assert plan.fits == plan.fits_before == 18 * 4 * 3 + 3
    assert "vectors: 216 → 216 fits, which share their kernel matrices" in str(plan)
    assert "race: 216 → 216 fits" in str(plan)
    families = {"svc": (SVC(), SPACE), "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4, 8]})}
    mixed = ho.explain(ho.Tuned(families, validation=ho.KFold(4)), X, y, test=ho.KFold(3), options=EXACT)
    assert "race: 264 → 264 fits" in str(mixed)


def test_those_that_share_a_transformer_alone_race_one_by_one():
    pipeline = make_pipeline(StandardScaler(), PCA(random_state=0), SVC())
    space = {f"svc__{name}": values for name, values in SPACE.items()} | {"pca__n_components": [2, 4]}
    learner = tuned(pipeline, space, validation=ho.KFold(8))
    raced, whole = (evaluate(learner, options=ho.Options(race=race, rules=FITTED)) for race in ("exact", None))
    same_choices(raced, whole)
    assert record_of(raced).fits_before == 36 * 8 * 3
    assert record_of(raced).fits_after < 0.8 * record_of(raced).fits_before
    assert str(raced.plan).count("transformer fits") == 1


def test_what_a_kernel_answers_runs_at_once_and_the_rest_race_against_it():
    families = {"ridge": (RidgeClassifier(), {"alpha": [0.1, 1.0, 1e4]}), "svc": (SVC(), SPACE)}
    learner = ho.Tuned(families, validation=ho.KFold(10))
    raced, whole = evaluate(learner, options=EXACT), evaluate(learner)
    same_choices(raced, whole)
    table, ridge = raced.candidates, raced.candidates["family"] == "ridge"
    assert (table.loc[ridge, "unfinished_parts"] == 0).all()
    assert table.loc[~ridge, "unfinished_parts"].any()
    pd.testing.assert_frame_equal(table[ridge].drop(columns="unfinished_parts"), whole.candidates[ridge])


@pytest.mark.parametrize(
    ("learner", "words"),
    [
        (tuned(loss=make_scorer(lambda y, p: 0.0)), "the smallest loss there is"),
        (tuned(choose=lambda results: 0), "a function"),
        (tuned(choose="one_se", simplest={"C": "smaller", "gamma": "smaller"}), '"one_se"'),
        (tuned(validation=ho.Holdout(0.2)), "there is one"),
        (GridSearchCV(SVC(), {"C": [1.0, 2.0]}, error_score=-7.0), "error_score=-7"),
    ],
)
def test_refusals_name_the_way_out(learner, words):
    with pytest.raises(OptionError, match=words) as refused:
        ho.explain(learner, X, y, test=ho.KFold(3), options=EXACT)
    assert "leave race out" in str(refused.value)


def test_a_paired_race_of_too_few_parts_is_refused():
    loss = make_scorer(lambda y, p: -float(np.abs(y - p).mean()))
    learner = tuned(SVR(), {"C": [0.1, 1.0]}, validation=ho.KFold(3), loss=loss)
    options = ho.Options(race="paired")
    with pytest.raises(OptionError, match="needs 3 of the validation parts"):
        ho.explain(learner, *make_regression(60, 4, random_state=0), options=options)


def test_bounds_of_chance_need_a_largest_loss_and_the_exact_one_does_not():
    data = make_friedman1(100, 5, noise=0.5, random_state=0)
    learner = tuned(SVR(), SPACE, validation=ho.KFold(10))
    for kind in ("hoeffding", "bernstein"):
        with pytest.raises(OptionError, match="bounded range"):
            ho.explain(learner, *data, options=ho.Options(race=kind))
    raced, whole = evaluate(learner, data, options=EXACT), evaluate(learner, data)
    same_choices(raced, whole)
    assert record_of(raced).fits_after < 0.9 * record_of(raced).fits_before


def test_options_are_checked():
    with pytest.raises(OptionError, match="There is no race 'exactly'"):
        ho.Options(race="exactly")
    with pytest.raises(OptionError, match="probability"):
        ho.Options(race="hoeffding", race_level=1)


@pytest.mark.parametrize("kind", ["exact", "hoeffding"])
def test_jobs_and_order_change_nothing(kind):
    learner = tuned(validation=ho.KFold(10))
    one = evaluate(learner, options=ho.Options(race=kind))
    two = evaluate(learner, options=ho.Options(race=kind, queue_seed=3), jobs=2, backend="processes")
    same_choices(two, one)
    pd.testing.assert_frame_equal(two.candidates, one.candidates)
    assert record_of(one) == record_of(two)


def stopping_at(place):
    """A listener that ends the study when so many steps are done."""
    done = []

    def listen(event):
        done.extend([event] if isinstance(event, StepDone) else [])
        if len(done) == place:
            raise KeyboardInterrupt

    return listen


@pytest.mark.parametrize("kind", ["exact", "paired"])
def test_an_interrupted_race_goes_on_from_its_journal_and_computes_nothing_twice(kind, tmp_path):
    learner, options = tuned(validation=ho.KFold(4)), ho.Options(race=kind, rules=FITTED)
    whole = evaluate(learner, options=options)
    cells = record_of(whole).fits_after + 3
    for place in (1, 40, 90):
        stopped = ho.Options(race=kind, rules=FITTED, on_event=stopping_at(place))
        with pytest.raises(KeyboardInterrupt):
            evaluate(learner, journal=tmp_path / "a.db", options=stopped)
    again = evaluate(learner, journal=tmp_path / "a.db", options=options)
    same_choices(again, whole)
    pd.testing.assert_frame_equal(again.candidates, whole.candidates)
    use = again.journal
    assert use.recalled == 1 + 40 + 90
    assert use.recalled + use.computed == cells
    assert not use.repeats
    once_more = evaluate(learner, journal=tmp_path / "a.db", options=options).journal
    assert once_more.computed == 0
    assert once_more.recalled == cells


def test_a_race_and_the_whole_table_share_a_journal(tmp_path):
    learner = tuned(validation=ho.KFold(6))
    raced = evaluate(learner, journal=tmp_path / "a.db", options=ho.Options(race="exact", rules=FITTED))
    whole = evaluate(learner, journal=tmp_path / "a.db", options=ho.Options(rules=FITTED))
    assert whole.journal.recalled == record_of(raced).fits_after + 3
    assert not whole.candidates["validation_zero_one"].isna().any()
    same_choices(raced, whole)


class Fussy(ClassifierMixin, BaseEstimator):
    """Fails where it is told to, and else answers a tree's way."""

    def __init__(self, depth=1, fails=0):
        self.depth, self.fails = depth, fails

    def fit(self, X, y):
        if self.fails == 2 or (self.fails == 1 and int(abs(X[:, 0].sum()) * 1000) % 2):
            raise ValueError("as told")
        self.tree_ = DecisionTreeClassifier(max_depth=self.depth, random_state=0).fit(X, y)
        self.classes_ = self.tree_.classes_
        return self

    def predict(self, X):
        return self.tree_.predict(X)


def test_candidates_that_fail_are_dropped_and_counted():
    learner = ho.Tuned(Fussy(), {"depth": [1, 3, 6], "fails": [0, 1, 2]}, validation=ho.KFold(6))
    raced, whole = evaluate(learner, options=EXACT), evaluate(learner)
    same_choices(raced, whole)
    table = raced.candidates
    assert (table.loc[table["param_fails"] == 2, "failed_parts"] == 1).all()
    assert (table.loc[table["param_fails"] == 2, "unfinished_parts"] == 5).all()
    assert (raced.choices["failed_candidates"] <= whole.choices["failed_candidates"]).all()


def test_when_every_candidate_fails_the_study_says_so():
    with pytest.raises(FitFailed, match="as told"):
        evaluate(ho.Tuned(Fussy(), {"depth": [1, 2, 3], "fails": [2]}), options=EXACT)


def test_weights_groups_strings_and_many_classes_race():
    data = load_iris()
    names = data.target_names[data.target]
    rng = np.random.default_rng(0)
    roles = {"sample_weight": rng.random(150) + 0.1, "groups": rng.integers(0, 30, 150)}
    learner = ho.Tuned(SVC(), SPACE, validation=ho.KFold(6))
    raced, whole = (evaluate(learner, (data.data, names), options=o, **roles) for o in (EXACT, ho.Options()))
    same_choices(raced, whole)
    assert record_of(raced).fits_after < record_of(raced).fits_before


def test_time_that_is_up_leaves_an_incomplete_result_without_a_choice():
    learner = tuned(validation=ho.KFold(10))
    result = evaluate(learner, options=ho.Options(race="exact", timeout=1e-6))
    assert result.risk.value is None
    assert (result.choices["candidate"] == -1).all()


def test_the_final_predictor_is_raced_too():
    learner = tuned(validation=ho.KFold(6))
    raced, whole = evaluate(learner, options=EXACT), evaluate(learner)
    assert raced.predictor.get_params() == whole.predictor.get_params()


def test_beside_a_race_the_interval_and_the_curve_race_too():
    learner = ho.Tuned(DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2, 4, 8]}, validation=ho.KFold(4))
    for asked in ({"interval": "bht", "repetitions": 1}, {"learning_curve": (0.5,)}):
        raced = evaluate(learner, options=ho.Options(race="exact", **asked))
        whole = evaluate(learner, options=ho.Options(**asked))
        assert raced.estimates.keys() == whole.estimates.keys()
        assert raced.risk == whole.risk


def test_a_raced_result_is_saved_loaded_and_reported(tmp_path):
    result = evaluate(tuned(validation=ho.KFold(6)), options=EXACT)
    result.save(tmp_path / "a.heldout")
    back = ho.load(tmp_path / "a.heldout")
    pd.testing.assert_frame_equal(back.candidates, result.candidates)
    result.report(tmp_path / "a.html")
    assert "dropped by the race" in (tmp_path / "a.html").read_text(encoding="utf-8")
