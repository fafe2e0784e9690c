"""The words of a first screen: what is said of a gain, of classes, of a comparison, and what is never said."""

from __future__ import annotations

import pytest

from heldout.report.comparison import verdict_lines
from heldout.report.first_screen import short_facts
from heldout.report.show import as_text
from heldout.report.words import verdict_words


@pytest.fixture
def led(make_result):
    """A summary led by its accuracy, with changes to that score."""

    def summary(**changes):
        made = make_result()
        _, accuracy, *others = made["metrics"]
        made["metrics"] = [accuracy | {"decides": True} | changes, *others]
        made["headline"] |= {"metric": "accuracy", "verdict": (changes.get("gain") or {}).get("verdict")}
        return made | {"findings": []}

    return summary


def gain(value, low, high, verdict="not shown", p=0.3, reason=None):
    return {"value": value, "low": low, "high": high, "level": 0.95, "p": p, "verdict": verdict, "reason": reason}


def said(summary):
    return " ".join(verdict_words(summary))


def nothing_better(summary):
    for one in summary["metrics"][1:]:
        one["gain"] = None if one["gain"] is None else one["gain"] | {"verdict": "not shown"}
    return summary


def test_only_the_paired_difference_decides(led):
    assert said(led(gain=gain(0.35, 0.31, 0.394, "better"))) == (
        "Better than no model by 35.0 points (31.0 to 39.4 on the same folds)."
    )
    assert said(led(gain=gain(-0.05, -0.08, -0.021, "worse"))) == (
        "Worse than no model by 5.0 points (2.1 to 8.0 on the same folds)."
    )
    assert said(led(gain=gain(0.002, -0.003, 0.007))) == (
        "Not shown to be better than no model (+0.2 points, -0.3 to 0.7). By AUC 0.995 (0.989 to 0.998) it is better "
        "than chance."
    )
    assert said(led(gain=gain(0.05, -0.01, 0.1, "better", p=0.004))).startswith("Better than no model (p = 0.004) by 5")


def test_noise_reads_as_noise(led):
    summary = nothing_better(led(gain=gain(-0.002, -0.011, 0.007)))
    assert said(summary) == (
        "No better than no model (-0.2 points, -1.1 to 0.7); AUC 0.995 (0.989 to 0.998). "
        'This learner found nothing in these columns that tells "yes" from "no".'
    )
    summary["headline"] |= {"classes": None, "target": "price"}
    assert said(summary).endswith("This learner found nothing in these columns that predicts price.")
    summary["headline"]["classes"] = [{"label": name, "share": 1 / 3} for name in "abc"]
    assert said(summary).endswith("This learner found nothing in these columns that tells the classes apart.")


def test_a_learner_that_answers_as_no_model_is_no_better(led):
    none = gain(0.0, None, None, reason="No interval: the two lost the same on all 150 rows.")
    assert said(nothing_better(led(gain=none))).startswith("No better than no model: the same score on every row; AUC ")


def test_without_an_interval_of_the_difference_nothing_is_shown(led):
    assert said(led(gain=gain(0.4, None, None, reason="No interval: time."))) == (
        "Not shown to be better than no model: the gain is 40 points, without an interval. No interval: time."
    )
    assert said(led(gain=gain(-0.1, None, None, reason="No interval: time."))).startswith("No better than no model: ")


def test_without_a_comparison_the_reason_stands_there(led):
    summary = led(gain=None)
    summary["verdict"]["no_model"] = {"reason": "Nothing to hold it against."}
    assert said(summary) == "Not compared with no model. Nothing to hold it against."


def test_rows_of_one_test_set_and_of_leave_one_out_are_no_folds(led):
    better = gain(0.35, 0.31, 0.394, "better")
    summary = led(gain=better)
    assert said(summary | {"folds": summary["folds"][:1]}).endswith("(31.0 to 39.4 on the same test rows).")
    alone = [fold | {"held_rows": 1} for fold in summary["folds"]]
    assert said(summary | {"folds": alone}).endswith("(31.0 to 39.4 on the same rows).")


def test_a_rare_class_is_told_once(led):
    summary = led(gain=gain(0.002, -0.003, 0.007))
    rare = {"code": "H105", "severity": "warning", "message": "Accuracy hides them. By AUC better than chance."}
    assert said(summary | {"findings": [rare]}) == "Not shown to be better than no model (+0.2 points, -0.3 to 0.7)."


@pytest.mark.parametrize(
    ("classes", "words"),
    [
        ([("no", 0.94), ("yes", 0.06)], "no 94 %, yes 6 %"),
        ([("0", 0.996), ("1", 0.004)], '"0" 99.60 %, "1" 0.40 %'),
        ([("<=50K", 0.75), (">50K", 0.25)], '"<=50K" 75 %, ">50K" 25 %'),
        ([(str(n), 0.1) for n in range(10)], "10 classes of 10 % each"),
        (
            [("Adelie Penguin (Pygoscelis adeliae)", 0.6), ("Gentoo", 0.4)],
            '"Adelie Penguin (Pygosce…" 60 %, Gentoo 40 %',
        ),
        (
            [("a name that is longer than that, one", 0.6), ("a name that is longer than that, two", 0.4)],
            '"a name that …n that, one" 60 %, "a name that …n that, two" 40 %',
        ),
        ([("a", 0.4), ("b", 0.3), ("c", 0.2), ("d", 0.1)], "4 classes of 10 % to 40 %"),
    ],
)
def test_the_first_line_tells_the_classes(led, classes, words):
    summary = led()
    summary["headline"]["classes"] = [{"label": label, "share": share} for label, share in classes]
    told = " ".join(as_text("result", summary).split())
    assert told.startswith(f"diagnosis from 4 columns of bc.csv 150 rows: {words}")


def test_a_first_line_that_would_wrap_is_two(led):
    summary = led()
    summary["headline"] |= {"name": "second try", "source": "a long name of a file with results of 2024.csv"}
    first, _, second, *_ = as_text("result", summary).splitlines()
    assert first == "second try: diagnosis from 4 columns of a long name of a file with results of 2024.csv"
    assert second == "  150 rows: no 63 %, yes 37 %"


def test_many_grave_findings_are_counted_and_notes_come_after_the_scores(led):
    found = [{"code": f"H60{n}", "severity": "warning", "message": f"Trap {n}."} for n in range(6)]
    found += [{"code": "H201", "severity": "info", "message": "A remark."}]
    text = as_text("result", led() | {"findings": found})
    assert text.index("  ! Trap 3. (H603)") < text.index("  … 2 more findings.") < text.index("held out")
    assert "Trap 4" not in text
    assert text.index("held out") < text.index("  note        A remark.")


def note_of(summary, *messages):
    found = [{"code": f"H70{n}", "severity": "info", "message": text} for n, text in enumerate(messages)]
    return short_facts(summary | {"findings": found})["note"]


def test_a_note_is_whole_sentences_and_says_where_the_rest_is(led):
    summary, long = led(), f"Long {'word ' * 40}end."
    assert note_of(summary) is None
    assert note_of(summary, "One. Two.") == "One. Two."
    assert note_of(summary, f"One. By C=1.0 two. {long}") == "One. By C=1.0 two. (result.findings shows more)"
    assert note_of(summary | {"next": ""}, "One.", long) == "One. (--verbose shows 1 more note)"
    assert note_of(summary | {"next": ""}, long, long) == "--verbose shows 2 notes"


def test_what_the_head_says_is_left_out_is_no_note(led):
    found = [{"code": "H110", "severity": "info", "message": "Left out: id."}]
    summary = led() | {"findings": found}
    assert short_facts(summary)["note"] == "Left out: id."
    text = as_text("result", summary | {"head": {"left out": "id (an identifier)"}, "next": ""})
    assert text.lower().count("left out") == 1


def test_the_only_family_chosen_is_named_once(led):
    summary = led()
    summary["about"] |= {"families": ["logistic", "boosting"], "rows": 300, "final": None}
    one = {"candidate": 0, "family": "logistic", "params": {"C": 1}}
    other = one | {"params": {"C": 10}}

    def chosen(*choices):
        return short_facts(summary | {"choices": choices})["chosen"]

    assert chosen(one, one, other) == "logistic C=1 in 2 folds, C=10 in 1"
    assert chosen(one) == "logistic C=1"
    boosted = {"candidate": 1, "family": "boosting", "params": {"rate": 1}}
    assert chosen(one, one, boosted) == "logistic C=1 in 2 folds, boosting rate=1 in 1"
    assert chosen(one, one | {"params": {}}) == "logistic C=1 in 1 fold, logistic in 1"
    summary["about"]["final"] = other
    assert chosen(one, one) == "logistic C=1 in 2 folds; final model: C=10 on all 300 rows"
    summary["about"]["final"] = boosted
    assert chosen(one, one) == "logistic C=1 in 2 folds; final model: boosting rate=1 on all 300 rows"


def test_another_score_that_beats_no_model_is_told_with_one_that_does_not(led):
    summary = nothing_better(led(gain=gain(0.002, -0.003, 0.007)))
    known = {one["name"]: one for one in summary["metrics"]}
    area, lead = known["auc"], summary["metrics"][0]
    r2 = area | {"name": "r2", "label": "R²", "value": 0.72, "low": 0.29, "high": 0.89}
    for verdict, words in [("better", ". By R² 0.72 (0.29 to 0.89) it is better than no model."), ("not shown", ".")]:
        told = said(summary | {"metrics": [lead, r2 | {"gain": gain(0.77, 0.5, 1.04, verdict)}]})
        assert told.startswith(f"Not shown to be better than no model (+0.2 points, -0.3 to 0.7){words}")


def test_what_was_not_checked_is_not_called_clean(led):
    summary = led()
    assert "2 checks of the data and the set-up: nothing found." in as_text("result", summary)
    severities = ("error", "warning", "warning")  # whatever found them, the line counts what `findings` holds
    summary["findings"] = [{"code": "H601", "severity": one, "message": "Rows are equal."} for one in severities]
    assert "2 checks of the data and the set-up: 1 error, 2 warnings." in as_text("result", summary)
    summary["checks"]["ran"] = False
    assert "The data were not checked for leaks and traps." in as_text("result", summary)
    assert "check" not in as_text("result", summary | {"checks": {}})


def compared(make_comparison, *verdicts):
    summary = make_comparison(("boosting", "forest", "ridge"))
    for one, verdict in zip(summary["against_best"], verdicts, strict=True):
        one["verdict"] = verdict
    return summary


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        (("not shown", "worse"), "forest cannot be told from it (+0.10, -0.02 to 0.20); the other is worse."),
        (("not shown", "not shown"), "forest and ridge cannot be told from it."),
        (("worse", "worse"), "The others are worse."),
        (("not compared", "worse"), "ridge is worse; forest cannot be compared."),
    ],
)
def test_a_comparison_says_who_is_best_and_who_cannot_be_told_from_it(make_comparison, verdicts, words):
    summary = compared(make_comparison, *verdicts)
    summary["verdict"]["simplest"] = None
    assert verdict_lines(summary) == ["Best: boosting, log loss 0.120 (0.100 to 0.150).", words]


def test_the_simplest_that_cannot_be_told_from_the_best_is_named(make_comparison):
    summary = compared(make_comparison, "not shown", "worse")
    summary["verdict"]["simplest"] = "forest"
    assert verdict_lines(summary)[-1] == "Simplest that cannot be told from the best: forest."
    summary["verdict"]["simplest"] = "boosting"
    assert verdict_lines(summary)[-1] == "It is also the simplest of them."
