"""The tour of the command, made by running it: writes docs/tour.md.

The table is made here: two years of orders of a shop, with categories, missing values, a date and a customer column.
``python examples/tour.py`` runs every command in a temporary folder and writes what it printed.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

DOCS = Path(__file__).parents[1] / "docs" / "tour.md"
WIDTH = 100
COLUMNS = "--target spent --groups customer"

INTRODUCTION = """\
# A tour: from a table to a decision

A shop has two years of orders, and wants to know what a customer will spend on the next one. The table has categories,
missing values, a date and a customer column. Everything below was printed by the commands, in a terminal of 100
columns; `python examples/tour.py` makes the table and this page again.
"""

STEPS = (
    ("The table", "head -4 orders.csv", ""),
    (
        "Are there traps in it?",
        "heldout check orders.csv --target spent",
        "The same customers come back, and some spend more than others. Rows dealt out at random would test a model on "
        "customers that it knows, and new ones\nare to come: the way out is to declare the groups, once, for every "
        "level of splitting. The date stays a column here, since the question is how good\nthe model is for other "
        "customers; had it been for later months, `--time ordered` would test forward at every level.",
    ),
    ("", f"heldout check orders.csv {COLUMNS} --ignore H607", ""),
    (
        "Which recipe?",
        f"heldout advise orders.csv {COLUMNS} --learner ridge,tree,knn",
        "The advice is a command. It is run as it stands, with the absolute error as the loss, and writes three files: "
        "the study, the result and the model.",
    ),
    (
        "How good is it really?",
        f"heldout evaluate orders.csv {COLUMNS} --learner ridge,tree,knn --test kfold:5 --validation kfold:5 "
        "--loss absolute --write-study study.toml --save result.heldout --save model.skops",
        "The risk was measured on customers that no fit and no choice had seen, and choosing between learners is part "
        "of it. What finished is in `.heldout/`:\nthe same command answers at once, an interrupted one goes on. The "
        "study file gives the same numbers again:",
    ),
    ("", "cat study.toml", ""),
    ("", "heldout evaluate study.toml --quiet", ""),
    (
        "Is the best one better?",
        f"heldout compare orders.csv {COLUMNS} --learner ridge,tree,dummy --loss absolute",
        "Cross-validation tests no single predictor, so no test set was looked at. Where one is, the ledger keeps who "
        "looked, and what is left of it:",
    ),
    (
        "",
        f"heldout evaluate orders.csv {COLUMNS} --learner ridge --loss absolute --test holdout:0.2 "
        "--answer pass/fail:15 --quiet",
        "",
    ),
    ("", "heldout ledger", ""),
    (
        "What will they spend?",
        "heldout predict model.skops new.csv --keep customer",
        "A channel that no order had before is named, not guessed.",
    ),
)


def make_tables(folder: Path) -> None:
    """orders.csv, and new.csv with a few orders to come."""
    rng = np.random.default_rng(2024)
    n, customers = 700, 90
    who = rng.integers(0, customers, n)
    taste = rng.normal(0, 12, customers)
    days = np.sort(rng.integers(0, 730, n))
    items = rng.integers(1, 9, n)
    channel = rng.choice(["web", "app", "shop"], n, p=[0.5, 0.3, 0.2])
    spent = 18 + 6.5 * items + 9 * (channel == "shop") + 0.02 * days + taste[who] + rng.normal(0, 9, n)
    table = pd.DataFrame(
        {
            "ordered": (pd.Timestamp("2022-01-01") + pd.to_timedelta(days, unit="D")).strftime("%Y-%m-%d"),
            "customer": [f"C{one:03d}" for one in who],
            "channel": channel,
            "region": rng.choice(["north", "south", "east", "west"], n),
            "items": items,
            "discount": np.where(rng.random(n) < 0.15, np.nan, rng.choice([0, 5, 10, 20], n)),
            "spent": spent.round(2),
        }
    )
    table.to_csv(folder / "orders.csv", index=False)
    fresh = table.drop(columns="spent").iloc[[3, 250, 500, 690]].assign(ordered="2024-01-15")
    fresh.iloc[1, fresh.columns.get_loc("channel")] = "phone"
    fresh.to_csv(folder / "new.csv", index=False)


def transcript(command: str, folder: Path) -> str:
    """What a command prints, on both streams, as a terminal shows it."""
    words = shlex.split(command)
    if words[0] == "heldout":
        words = [sys.executable, "-m", "heldout", *words[1:]]
    settings = {**os.environ, "COLUMNS": str(WIDTH), "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        words, cwd=folder, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    if done.returncode not in (0, 1):  # check ends with 1 where it finds something
        raise SystemExit(f"{command}\n{done.stdout}")
    ends = f"[exit code {done.returncode}]\n" if done.returncode else ""
    return "\n".join(one.rstrip() for one in done.stdout.splitlines()) + "\n" + ends


def page(folder: Path) -> str:
    """The whole page."""
    make_tables(folder)
    parts = [INTRODUCTION]
    for title, command, words in STEPS:
        parts += [f"## {title}\n"] if title else []
        parts += [f"```console\n$ {command}\n{transcript(command, folder)}```\n"]
        parts += [words + "\n"] if words else []
    return "\n".join(parts)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        DOCS.write_text(page(Path(folder)), encoding="utf-8")
    print(f"wrote {DOCS.name}")
