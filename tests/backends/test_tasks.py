"""What is sent, in which company, and when: every task once, those that crashed alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from heldout.backends.tasks import Batch, Task, TaskQueue


def queue_of(count: int, *, seconds: float | None = None, **how: object) -> TaskQueue:
    queue = TaskQueue([(i, i) for i in range(count)], **{"batch_seconds": 0.1, **how})
    if seconds is not None:
        queue.observe(seconds)
    return queue


def drained(queue: TaskQueue, *, workers: int) -> list[Batch]:
    batches = []
    while (batch := queue.next_batch(workers, idle=True)) is not None:
        batches.append(batch)
    return batches


def ids(batch: Batch | None) -> list[int]:
    assert batch is not None
    return [task.id for task in batch.tasks]


@given(st.integers(0, 60), st.integers(1, 9), st.floats(1e-6, 10.0))
def test_every_task_is_sent_once_and_in_order(count: int, workers: int, seconds: float) -> None:
    batches = drained(queue_of(count, seconds=seconds), workers=workers)
    assert [number for batch in batches for number in ids(batch)] == list(range(count))


def test_batches_are_worth_a_message_and_shrink_towards_the_end() -> None:
    sizes = [len(batch.tasks) for batch in drained(queue_of(1000, seconds=0.1 / 50), workers=2)]
    assert sizes[0] == 50
    assert sizes[-1] == 1
    assert sizes == sorted(sizes, reverse=True)


def test_before_anything_is_known_a_batch_is_one_task_and_never_more_than_the_most() -> None:
    queue = queue_of(10_000)
    assert len(ids(queue.next_batch(1, idle=True))) == 1
    queue.observe(0.0)
    assert len(ids(queue.next_batch(1, idle=True))) == 512


def test_with_limits_of_fits_a_batch_is_one_task() -> None:
    assert all(len(batch.tasks) == 1 for batch in drained(queue_of(9, seconds=0.0, one_by_one=True), workers=2))


def test_those_that_crashed_wait_until_nothing_else_is_under_way_and_then_go_one_by_one() -> None:
    queue = queue_of(4)
    for _ in range(2):
        batch = queue.next_batch(1, idle=True)
        assert batch is not None
        queue.retry_alone(batch, "worker died")
    assert [ids(queue.next_batch(1, idle=False)) for _ in range(2)] == [[2], [3]]
    assert queue.next_batch(1, idle=False) is None
    assert [(ids(batch), batch.lost) for batch in drained(queue, workers=1)] == [
        ([0], ("worker died",)),
        ([1], ("worker died",)),
    ]
    assert not queue


def test_what_is_put_back_comes_next_and_what_is_added_last() -> None:
    queue = queue_of(3)
    first = queue.next_batch(1, idle=True)
    assert first is not None
    queue.put_back(first.tasks)
    queue.add(Task(3, 3))
    assert [ids(batch) for batch in drained(queue, workers=1)] == [[0], [1], [2], [3]]
