"""How long the page of 1,000 candidates takes, and how large it is. Run it with ``python -m benchmarks.report``.

The study itself is not timed. The first page of a process also imports matplotlib and Jinja2; the second does not.
"""

from __future__ import annotations

from time import perf_counter

from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho
from heldout.api.result import Result
from heldout.report.page import render_page


def regression() -> Result:
    """1,000 candidates of ridge regression in 10 folds."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    space = {"ridge__alpha": ho.log_grid(-6, 6, 500), "ridge__fit_intercept": [True, False]}
    learner = ho.Tuned(make_pipeline(StandardScaler(), Ridge()), space, validation=ho.KFold(5))
    return ho.evaluate(learner, X, y, test=ho.KFold(10), progress=False)


def classification() -> Result:
    """100 candidates of logistic regression in 10 folds, with probabilities."""
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    space = {"logisticregression__C": ho.log_grid(-4, 2, 50), "logisticregression__fit_intercept": [True, False]}
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=200))
    learner = ho.Tuned(model, space, validation=ho.Holdout(0.25), loss="log")
    return ho.evaluate(learner, X, y, test=ho.KFold(10), loss=["log", "zero_one"], progress=False)


def main() -> None:
    """Print seconds and bytes: the summary with figures, the first page of the process, and the page again."""
    for name, study in (("1,000 candidates × 10 folds", regression), ("100 candidates × 10 folds", classification)):
        result = study()
        began = perf_counter()
        summary = result.summary(figures=True)
        seconds = [perf_counter() - began]
        for _ in range(2):
            began = perf_counter()
            page = render_page(summary)
            seconds.append(perf_counter() - began)
        told = "   ".join(
            f"{what} {one:5.2f} s" for what, one in zip(("summary", "page", "again"), seconds, strict=True)
        )
        print(f"{name:<28} {told}   {len(page.encode()):>9,} bytes")


if __name__ == "__main__":
    main()
