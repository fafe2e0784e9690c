"""Panel data: customers seen month after month. How good is the model for new customers, in months to come?

Run it with `python examples/panel.py`. docs/panel.md explains what it prints. The data are made here, so that the true
answer is known: the year to come, of the same customers and of new ones, can be made as well, in as many worlds as one
likes. It takes a few minutes.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import heldout as ho

OUTCOME = 3  # months: what is predicted is the spending of the next three months
ROLES = ["customer", "month", "spending"]


def make_panel(customers: int, months: int, *, seed: int) -> pd.DataFrame:
    """A row for each customer and month; every customer has habits, and every month a mood, that no column tells."""
    chance = np.random.default_rng(seed)
    traits = chance.normal(size=(customers, 3))  # age, income, distance: they tell one customer from another
    habit = traits @ [4.0, 6.0, -2.0] + 12.0 * chance.normal(size=customers)
    mood = np.zeros(months + OUTCOME)
    for month in range(1, len(mood)):
        mood[month] = 0.9 * mood[month - 1] + 4.0 * chance.normal()
    visits = chance.poisson(4.0, size=(customers, len(mood))) + 0.0
    monthly = 50.0 + habit[:, None] + mood + 3.0 * visits + 6.0 * chance.normal(size=visits.shape)
    weather = 0.5 * mood + chance.normal(size=len(mood))  # known each month, the same for everyone
    ahead = np.stack([monthly[:, month + 1 : month + 1 + OUTCOME].sum(axis=1) for month in range(months)], axis=1)
    when = pd.date_range("2021-01-01", periods=months, freq="MS")
    return pd.DataFrame(
        {
            "customer": np.repeat(np.arange(customers), months),
            "month": np.tile(when, customers),
            "age": np.repeat(traits[:, 0], months),
            "income": np.repeat(traits[:, 1], months),
            "distance": np.repeat(traits[:, 2], months),
            "visits": visits[:, :months].ravel(),
            "weather": np.tile(weather[:months], customers),
            "spending": ahead.ravel(),
        }
    )


def make_worlds(customers: int, months: int, *, worlds: int) -> list[dict[str, pd.DataFrame]]:
    """Pasts to learn from and what came after: a year past the last outcome, of known customers and of new ones."""
    made = []
    for world in range(worlds):
        everything = make_panel(2 * customers, months + OUTCOME + 12, seed=1000 + world)
        times = np.sort(everything["month"].unique())
        known = everything["customer"] < customers
        later = everything["month"] >= times[months + OUTCOME]
        past = known & (everything["month"] <= times[months - 1])
        kinds = {"past": past, "known": known & later, "new": ~known & later}
        made.append({kind: everything[rows].reset_index(drop=True) for kind, rows in kinds.items()})
    return made


def learner_with(validation: object) -> ho.Tuned:
    """Neighbours, which can remember a customer, against a line, which cannot."""
    return ho.Tuned(
        {
            "neighbours": (
                make_pipeline(StandardScaler(), KNeighborsRegressor()),
                {"kneighborsregressor__n_neighbors": [1, 3, 10, 30, 100]},
            ),
            "ridge": (make_pipeline(StandardScaler(), Ridge()), {"ridge__alpha": ho.log_grid(-1, 4, 6)}),
        },
        validation=validation,
        loss="absolute",
    )


# What is declared, and how rows are held out to test and to choose.
BUFFER = "92d"  # three months: no outcome that is trained on reaches into the months that are held out
STUDIES = {
    "nothing: rows are shuffled": ({}, ho.KFold(5), ho.KFold(5)),
    "groups": ({"groups": "customer"}, ho.KFold(5), ho.KFold(5)),
    "time": ({"time": "month"}, ho.Forward(3), ho.Holdout(0.25)),
    "time, with a buffer": ({"time": "month"}, ho.Forward(3, buffer=BUFFER), ho.Holdout(0.25, buffer=BUFFER)),
    "groups and time, with a buffer": (
        {"groups": "customer", "time": "month"},
        ho.Forward(3, buffer=BUFFER),
        ho.Holdout(0.25, buffer=BUFFER),
    ),
}


def evaluate_study(name: str, panel: pd.DataFrame) -> ho.Result:
    """One of the studies. Customer and month are roles or nothing: no study learns from them."""
    roles, test, validation = STUDIES[name]
    X = panel.drop(columns=[column for column in ("customer", "month") if column not in roles.values()])
    return ho.evaluate(learner_with(validation), X, "spending", test=test, **roles)


def true_risks(name: str, world: dict[str, pd.DataFrame]) -> dict[str, float]:
    """The mean loss of what this study would ship, in the year to come."""
    roles, _, validation = STUDIES[name]
    past = world["past"]
    declared = {role: past[column] for role, column in roles.items()}
    fitted = learner_with(validation).fit(past.drop(columns=ROLES), past["spending"], **declared)
    return {
        who: float(np.abs(fitted.predict(world[who].drop(columns=ROLES)) - world[who]["spending"]).mean())
        for who in ("known", "new")
    }


def main(*, customers: int = 60, months: int = 48, worlds: int = 12, picture: str | None = None) -> pd.DataFrame:
    """Print what every study says, on average over many worlds, beside what came true; and give back the table."""
    rows = []
    for world in make_worlds(customers, months, worlds=worlds):
        for name in STUDIES:
            result = evaluate_study(name, world["past"])
            ridges = float((result.choices["family"] == "ridge").mean())
            train = result.splits.summary().totals["train_mean"]
            said = {"declared": name, "said": result.risk.value, "training rows": train, "ridge chosen": ridges}
            rows.append(said | true_risks(name, world))
    table = pd.DataFrame(rows)
    table["optimism"] = table["new"] - table["said"]
    means = table.groupby("declared", sort=False).mean()
    means["±"] = table.groupby("declared", sort=False)["optimism"].std() / np.sqrt(worlds)
    print(f"{worlds} worlds of {customers} customers × {months} months: mean absolute error of three months' spending")
    print("| declared | it says | known customers | new customers | optimism | ridge chosen | training rows |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, row in means.iterrows():
        numbers = [row["said"], row["known"], row["new"]]
        cells = [str(name), *(f"{number:.1f}" for number in numbers), f"{row['optimism']:+.1f} ± {row['±']:.1f}"]
        print(f"| {' | '.join(cells)} | {row['ridge chosen']:.0%} | {row['training rows']:,.0f} |")
    said = table.pivot_table(index=table.index // len(STUDIES), columns="declared", values="said")
    more = said["time, with a buffer"] - said["time"]
    print(f"The buffer alone adds {more.mean():.1f} ± {more.std() / np.sqrt(worlds):.1f} to what the time study says.")
    print()
    print(f"The last study, {name}:")
    print(result.splits.summary())
    if picture:
        result.splits.plot().figure.savefig(picture, dpi=110)
    return means


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="where to write the picture of the splits, such as splits.png")
    main(picture=parser.parse_args().picture)
