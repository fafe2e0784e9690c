"""Which customers leave, and how well can that be foretold?

Run it with `make demo`, or `python examples/demo.py`. The customers are made up; their table is as tables are, with
numbers, categories and missing values. Two families compete in nested cross-validation, 5-fold inside 5-fold.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import heldout as ho

PAGE = Path("demo.html")
NUMBERS, CATEGORIES = ["age", "months", "calls", "fee"], ["plan", "payment", "region"]


def make_customers(rows: int = 1_200, *, seed: int = 0) -> pd.DataFrame:
    """Return a row a customer; newcomers who call often leave most, which no straight line shows."""
    chance = np.random.default_rng(seed)
    plan = chance.choice(["basic", "plus", "family"], size=rows, p=[0.5, 0.3, 0.2])
    payment = chance.choice(["card", "transfer", "invoice"], size=rows, p=[0.45, 0.3, 0.25])
    months = chance.gamma(1.6, 14.0, size=rows).round().clip(1)
    calls = chance.poisson(1.2, size=rows)
    fee = 19.0 + 13.0 * (plan == "plus") + 26.0 * (plan == "family") + chance.normal(0.0, 4.0, size=rows)
    leaning = 1.3 * calls - 0.11 * months + 1.2 * (payment == "invoice") - 1.6 * (plan == "family") - 1.4
    leaning += 3.0 * ((months < 12) & (calls >= 2))
    table = pd.DataFrame(
        {
            "age": chance.normal(46.0, 15.0, size=rows).round().clip(18, 90),
            "months": months,
            "calls": calls,
            "fee": fee.round(2),
            "plan": plan,
            "payment": payment,
            "region": chance.choice(["north", "east", "south", "west"], size=rows),
            "left": np.where(chance.random(rows) < 1.0 / (1.0 + np.exp(-leaning)), "yes", "no"),
        }
    )
    for name, share in {"age": 0.12, "fee": 0.04, "payment": 0.06}.items():
        table.loc[chance.random(rows) < share, name] = None
    return table.astype(dict.fromkeys(CATEGORIES, "category"))


def main() -> None:
    customers = make_customers()
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), NUMBERS),
        (OneHotEncoder(handle_unknown="ignore"), CATEGORIES),
    )
    # A tuned learner is a learner: training rows in, predictor out. 5-fold cross-validation within the training rows
    # chooses the family and its parameters together, so that the test rows are seen by no fit and no choice.
    learner = ho.Tuned(
        {
            "logistic regression": (
                make_pipeline(prepared, LogisticRegression(max_iter=1_000)),
                {"logisticregression__C": ho.log_grid(-3, 2, 6)},
            ),
            "boosting": (
                HistGradientBoostingClassifier(categorical_features="from_dtype"),
                {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [4, 15]},
            ),
        },
        validation=ho.KFold(5),
    )
    result = ho.evaluate(learner, customers, "left", test=ho.KFold(5), seed=0)
    model = result.predictor  # the same choice on all rows: what one would ship
    print(result)
    result.report(PAGE)
    print(f"\nThe model says of the first customer: {model.predict(customers.drop(columns='left')[:1])[0]}")
    print(f"The same with figures, for colleagues: open {PAGE.resolve()}")


if __name__ == "__main__":
    main()
