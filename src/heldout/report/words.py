"""Formats numbers, intervals and estimates as text; no other module of the reports does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heldout.base.words import clipped, digits_of, line, number, percent, rounded, shortened

DASH = "–"
GRAVE_FIRST = ("error", "warning", "info")
RARE = "H105"  # the finding that tells how well rows of a rare class are ranked
Metric = Mapping[str, Any]


def one_line(text: Any) -> str:
    """Return a text on one line without control characters.

    >>> one_line("one\\n  two")
    'one two'
    """
    text = str(text)
    return text if text.isprintable() and "  " not in text and text == text.strip() else line(text)


def amount(value: float | str | None) -> str:
    """Return a number with four significant digits, all digits of integers included; a dash for None.

    >>> amount(0.123456), amount(12345.6), amount(None), amount(-0.00002), amount("inf")
    ('0.1235', '12,346', '–', '-2e-05', '∞')
    """
    if value is None:
        return DASH
    if value in ("inf", "-inf"):
        return "∞" if value == "inf" else "-∞"
    if isinstance(value, float):
        return f"{value:,.0f}" if 1000 <= abs(value) < 1e7 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and abs(value) < 10**15 else number(value)


def p_words(p: float | None) -> str:
    """Return a p-value as text, or a dash for None.

    >>> p_words(0.03456), p_words(1.2345e-9), p_words(None)
    ('0.0346', '1.2e-09', '–')
    """
    if p is None:
        return DASH
    return f"{p:.2g}" if p < 0.001 else f"{p:.3g}"


def spaced(text: str) -> str:
    """Return a text on one line that keeps the blanks at its ends, which separate it from its neighbours.

    >>> spaced("  a\\n b ")
    '  a b '
    """
    words = one_line(text)
    if not words:
        return text if text.isspace() and "\n" not in text else ""
    return " " * (len(text) - len(text.lstrip(" "))) + words + " " * (len(text) - len(text.rstrip(" ")))


def level_words(level: float) -> str:
    """Return the level of an interval as per cent.

    >>> level_words(0.95), level_words(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.4g} %"


def between(estimate: Mapping[str, Any]) -> str:
    """Return the ends of an interval, or a dash if there is none.

    >>> between({"low": 0.1, "high": 0.2}), between({"low": None, "high": None})
    ('0.1 to 0.2', '–')
    """
    return DASH if estimate["low"] is None else f"{amount(estimate['low'])} to {amount(estimate['high'])}"


def interval(estimate: Mapping[str, Any]) -> str:
    """Return an interval with its level; empty if there is none.

    >>> interval({"low": 0.1, "high": 0.25, "level": 0.95})
    '95 % interval 0.1 to 0.25'
    """
    return "" if estimate["low"] is None else f"{level_words(estimate['level'])} interval {between(estimate)}"


def estimate_words(estimate: Mapping[str, Any]) -> str:
    """Return the value of an estimate, or the answer displayed in its place: "pass: at most 0.2".

    >>> estimate_words({"value": 0.12, "answer": "rounded to 0.01"})
    '0.12 (rounded to 0.01)'
    """
    value, answer = estimate["value"], estimate.get("answer")
    if answer is None:
        return amount(value)
    return shortened(answer) if value is None else f"{amount(value)} ({shortened(answer)})"


def parameter_value(value: Any) -> float | str:
    """Return the value of a parameter for a table; None and booleans become text, since a cell would show a number.

    >>> parameter_value(0.5), parameter_value(None), parameter_value(True)
    (0.5, 'None', 'True')
    """
    return value if isinstance(value, int | float) and not isinstance(value, bool) else line(value)


def counted(count: int, thing: str) -> str:
    """Return a count with its noun in the singular or plural.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{count:,} {thing}" if count == 1 else f"{count:,} {thing}{'es' if thing.endswith('s') else 's'}"


def row_count(size: float | None) -> str:
    """Return a number of rows as text; "about" marks a mean over parts of unequal size.

    >>> row_count(455.2), row_count(120.0), row_count(None)
    ('about 455', '120', '–')
    """
    if size is None:
        return DASH
    return f"{size:,.0f}" if size == round(size) else f"about {size:,.0f}"


def moment(text: str | None) -> str:
    """Return a time in UTC to the minute, or a dash for None.

    >>> moment("2026-11-16T12:32:07+00:00"), moment(None)
    ('2026-11-16 12:32', '–')
    """
    return DASH if text is None else one_line(text)[:16].replace("T", " ")


def leading(summary: Mapping[str, Any]) -> Metric | None:
    """Return the metric that leads, or None if there is none."""
    metrics = summary["metrics"]
    return next((one for one in metrics if one["name"] == summary["headline"]["metric"]), next(iter(metrics), None))


def shown(value: Any, metric: Metric, *, share: bool = True, sign: bool = False) -> str:
    """Return a value of a metric, rounded as its interval asks; shares in per cent where `share` is set."""
    if not isinstance(value, int | float):
        return amount(value)
    digits = digits_of(metric["low"], metric["high"])
    if metric["unit"] == "share" and share:
        return percent(value, 3 if digits is None else digits)
    if metric["unit"] != "target" and (digits == 4 or (digits is None and abs(value) >= 0.01)):
        digits = 3  # a table of scores has three decimals, as far as they show the width of the interval
    return rounded(value, digits, sign=sign)


def ends_words(metric: Metric, *, share: bool = True, like: Metric | None = None) -> str:
    """Return the ends of a metric's interval, without the signs of per cent and rounded like another's; or ""."""
    if metric["low"] is None:
        return ""
    ends = (metric["low"], metric["high"])
    return " to ".join(shown(end, like or metric, share=share).removesuffix(" %") for end in ends)


def baseline(metric: Metric) -> str:
    """Return what no model scores: 'always "no": 93.9 %'; empty if that is not known."""
    if metric["no_model"] is None:
        return ""
    return f"{no_model_words(metric)}: {shown(metric['no_model'], metric)}"


def no_model_words(metric: Metric) -> str:
    """Return how no model answers, with class names in double quotes.

    >>> no_model_words({"no_model_words": "always 'no'"})
    'always "no"'
    """
    words = line(metric["no_model_words"] or "no model")
    return f'always "{words[8:-1]}"' if words.startswith("always '") and words.endswith("'") else words


def headline_parts(summary: Mapping[str, Any]) -> tuple[str, str, str, str]:
    """Return the leading metric as label, value, interval and baseline."""
    metric, risk = leading(summary), summary["risk"]
    if metric is None or (metric["value"] is None and risk["answer"] is not None):
        return line(risk["loss"] if metric is None else metric["label"]), estimate_words(risk), "", ""
    value = shown(metric["value"], metric)
    if metric["decides"] and risk["answer"] is not None:
        value = f"{value} ({shortened(risk['answer'])})"
    level = f"{level_words(metric['level'])} interval {ends_words(metric)}" if metric["low"] is not None else ""
    return metric["label"], value, level, baseline(metric)


def short_result(summary: Mapping[str, Any]) -> str:
    """Return the headline alone, on one line: score, interval and baseline."""
    label, value, interval, plain = headline_parts(summary)
    return f"{label} {value}" + (f"   ({interval})" if interval else "") + (f"   {plain}" if plain else "")


def is_good(summary: Mapping[str, Any]) -> bool:
    """Return whether the answer may be green: better than no model, and nothing grave was found."""
    return summary["headline"]["verdict"] == "better" and not grave_of(summary["findings"])


def verdict_words(summary: Mapping[str, Any]) -> list[str]:
    """Return whether the learner beats no model, by the paired difference on the same rows."""
    metric = leading(summary)
    if metric is None or metric["value"] is None:
        reason = summary["risk"]["reason"] if metric is None or metric["decides"] else metric["reason"]
        return [line(reason)] if reason and summary["risk"]["answer"] is None else []
    gain = metric["gain"]
    if gain is None or gain["value"] is None:
        reason = (summary["verdict"].get("no_model") or {}).get("reason")
        return [f"Not compared with no model. {line(reason)}"] if reason else []
    (value, ends), where = gap_words(gain, metric), _where(summary["folds"])
    if gain["value"] == 0 and not ends:
        return [f"No better than no model: the same score on every row{_ranking(summary)}", *_nothing(summary)]
    if not ends:
        head = "Not shown to be better" if gain["value"] > 0 else "No better"
        return [f"{head} than no model: the gain is {value}, without an interval. {line(gain['reason'] or '')}".strip()]
    if gain["verdict"] == "better":
        p = f" (p = {gain['p']:.2g})" if gain["low"] <= 0 and gain["p"] is not None else ""
        return [f"Better than no model{p} by {value} ({ends} on the same {where})."]
    if gain["verdict"] == "worse":
        turned = {"value": -gain["value"], "low": -gain["high"], "high": -gain["low"]}
        value, ends = gap_words(turned, metric)
        return [f"Worse than no model by {value} ({ends} on the same {where})."]
    if gain["value"] > 0:
        head = f"Not shown to be better than no model ({gap_words(gain, metric, sign=True)[0]}, {ends})"
    else:
        head = f"No better than no model ({value}, {ends})"
    return [f"{head}{_ranking(summary)}", *_nothing(summary)]


def gap_words(
    gap: Mapping[str, Any], metric: Metric, *, sign: bool = False, like: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Return a difference, of shares in points, and its interval; "" without one. The interval decides the rounding."""
    scale, unit = (100, " points") if metric["unit"] == "share" else (1, "")
    known = gap if like is None or like["low"] is None else like
    digits = digits_of(*(_times(known[end], scale) for end in ("low", "high")))
    value, low, high = (_times(gap[name], scale) for name in ("value", "low", "high"))
    ends = " to ".join(
        amount(end) if isinstance(end, str) else rounded(end, digits) for end in (low, high) if end is not None
    )
    return (rounded(value, digits, sign=sign) if isinstance(value, int | float) else amount(value)) + unit, ends


def _times(value: Any, scale: int) -> Any:
    return scale * value if isinstance(value, int | float) else value  # infinity is stored as text


def _where(folds: Sequence[Mapping[str, Any]]) -> str:
    several = len(folds) > 1
    return "folds" if several and any(fold["held_rows"] > 1 for fold in folds) else "rows" if several else "test rows"


def _ranking(summary: Mapping[str, Any]) -> str:
    """Return another score that is shown to beat no model, as AUC often is where a class is rare; else just the AUC."""
    areas, lead = ("auc", "roc_auc"), leading(summary)
    others = [one for one in summary["metrics"] if one is not lead and one["value"] is not None]
    others.sort(key=lambda one: one["name"] not in (*areas, "r2"))
    better = [one for one in others if (one["gain"] or {}).get("verdict") == "better"]
    told = any(finding["code"] == RARE for finding in summary["findings"])
    one = next(iter(better or [one for one in others if one["name"] in areas]), None)
    if told or one is None:
        return "."
    words = f"{one['label']} {shown(one['value'], one)}" + (f" ({ends_words(one)})" if one["low"] is not None else "")
    what = "chance" if one["name"] in areas else "no model"
    return f". By {words} it is better than {what}." if better else f"; {words}."


def _nothing(summary: Mapping[str, Any]) -> list[str]:
    """Return that nothing was learned, if no metric says that something was."""
    headline = summary["headline"]
    if any((one["gain"] or {}).get("verdict") == "better" for one in summary["metrics"]):
        return []
    classes = class_names(headline["classes"] or ())
    found = "This learner found nothing in these columns"
    if len(classes) == 2:
        return [f'{found} that tells "{classes[1]}" from "{classes[0]}".']
    told = "tells the classes apart" if classes else f"predicts {shortened(headline['target'] or 'the target', 40)}"
    return [f"{found} that {told}."]


def class_names(classes: Iterable[Mapping[str, Any]], most: int = 24) -> list[str]:
    """Return the labels of classes, long ones cut at the end, or in the middle where they begin alike.

    >>> class_names([{"label": "Adelie (adeliae)"}, {"label": "Gentoo"}], 10)
    ['Adelie (a…', 'Gentoo']
    """
    labels = [line(one["label"]) for one in classes]
    cut = [clipped(label, most) for label in labels]
    return cut if len(set(cut)) == len(cut) else [shortened(label, most) for label in labels]


def variance_words(summary: Mapping[str, Any]) -> str:
    """Return R² in words, where an error leads."""
    lead, found = leading(summary), next((one for one in summary["metrics"] if one["name"] in ("r2",)), None)
    if lead is None or found is None or found is lead or found["value"] is None or lead["unit"] != "target":
        return ""
    much = percent(found["value"]) if found["value"] > 0.005 else "none"
    ends = f", {ends_words(found)}" if found["low"] is not None else ""
    return f"Explains {much} of the variance (R² {shown(found['value'], found)}{ends})."


def severity_words(counts: Mapping[str, int]) -> dict[str, str]:
    """Return the number of findings of each severity that occurs, the most severe first.

    >>> severity_words({"info": 2, "warning": 2, "error": 0})
    {'warning': '2 warnings', 'info': '2 info'}
    """
    found = {severity: counts[severity] for severity in GRAVE_FIRST if counts.get(severity)}
    return {severity: f"{n} {severity}{'s' * (n > 1 and severity != 'info')}" for severity, n in found.items()}


def gravest_first(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the findings sorted by severity, then by code."""
    return sorted(findings, key=lambda finding: (GRAVE_FIRST.index(finding["severity"]), finding["code"]))


def grave_of(findings: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the warnings and errors, the gravest first."""
    return [finding for finding in gravest_first(findings) if finding["severity"] != "info"]
