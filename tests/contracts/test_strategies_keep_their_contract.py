from __future__ import annotations

import numpy as np
import pytest
from sklearn import model_selection as sk
from strategy_contract import check_strategy

import heldout as ho
from heldout.splits import as_strategy
from heldout.task import declare

N = 84
RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(N, 3))
NUMBERS = X[:, 0]
CLASSES = np.arange(N) % 3
GROUPS = RANDOM.permutation(np.arange(N) // 4)
TIME = RANDOM.permutation(N)

TASKS = {
    "numbers": declare(X, NUMBERS, classification=False),
    "classes": declare(X, CLASSES, classification=True),
    "groups": declare(X, NUMBERS, classification=False, groups=GROUPS),
    "groups and classes": declare(X, CLASSES, classification=True, groups=GROUPS),
    "time": declare(X, NUMBERS, classification=False, time=TIME),
    "spans": declare(X, NUMBERS, classification=False, time=(TIME, TIME + RANDOM.integers(0, 5, N))),
    "groups and time": declare(X, CLASSES, classification=True, groups=GROUPS, time=TIME),
    "strata": declare(X, NUMBERS, classification=False, strata=CLASSES),
}
TIMED = ["time", "spans", "groups and time"]
UNTIMED = [name for name in TASKS if name not in TIMED]
OURS = {
    "kfold": (ho.KFold(4), list(TASKS)),
    "repeated kfold": (ho.KFold(3, repeats=2), UNTIMED),
    "contiguous kfold": (ho.KFold(4, shuffle=False, stratify=False), ["numbers", "classes", "time"]),
    "leave one out": (ho.LeaveOneOut(), [name for name in TASKS if name != "groups and time"]),
    "buffered kfold": (ho.KFold(3, buffer=2, embargo="3"), TIMED),
    "repeated kfold in time": (ho.KFold(3, repeats=2, buffer=2), ["groups and time"]),
    "buffered holdout": (ho.Holdout(0.25, buffer="4"), TIMED),
    "buffered resample": (ho.Resample(4, 0.25, buffer=3), TIMED),
    "holdout": (ho.Holdout(0.25), list(TASKS)),
    "holdout rows": (ho.Holdout(rows=9), ["numbers", "classes", "time", "strata"]),
    "resample": (ho.Resample(5, 0.3), list(TASKS)),
    "forward": (ho.Forward(3), TIMED),
    "sliding forward": (ho.Forward(3, window=30, buffer=2), TIMED),
    "a number": (as_strategy(5), list(TASKS)),
    "scikit-learn kfold": (as_strategy(sk.KFold(4)), ["numbers", "classes"]),
    "scikit-learn shuffled": (as_strategy(sk.KFold(4, shuffle=True)), ["numbers", "classes"]),
    "scikit-learn seeded": (as_strategy(sk.KFold(4, shuffle=True, random_state=1)), ["numbers"]),
    "scikit-learn shuffle split": (as_strategy(sk.ShuffleSplit(3)), ["numbers", "classes"]),
    "scikit-learn groups": (as_strategy(sk.GroupKFold(3)), ["groups"]),
    "scikit-learn stratified": (as_strategy(sk.StratifiedKFold(3)), ["classes"]),
    "scikit-learn repeated": (as_strategy(sk.RepeatedKFold(n_splits=3, n_repeats=2)), ["numbers"]),
}
WHOLE = {
    "given rows": ho.Given([5, 3, 80]),
    "given folds": ho.Given(folds=np.arange(N) % 4),
    "given mask": ho.Given(np.arange(N) < 20),
    "pairs": as_strategy([(np.arange(50), np.arange(50, 84)), (np.arange(84)[::-1][:40], np.arange(5))]),
    "bootstrap pairs": as_strategy([(np.array([5, 5, 9, 2]), np.arange(60, 84))]),
}


@pytest.mark.parametrize(("name", "task"), [(name, task) for name, (_, tasks) in OURS.items() for task in tasks])
def test_strategies_that_draw(name, task):
    check_strategy(OURS[name][0], TASKS[task])


@pytest.mark.parametrize("name", WHOLE)
def test_strategies_that_name_rows_of_the_whole_task(name):
    check_strategy(WHOLE[name], TASKS["numbers"], whole_task_only=True)
    assert not WHOLE[name].inner_ok_under_partition


@pytest.mark.parametrize("name", ["kfold", "holdout", "resample", "scikit-learn shuffled"])
def test_chance_follows_the_seed(name):
    strategy, task = OURS[name][0], TASKS["numbers"]
    prints = {strategy.draw(task, task.all_rows, seed=seed).fingerprint for seed in range(10)}
    assert len(prints) == 10
