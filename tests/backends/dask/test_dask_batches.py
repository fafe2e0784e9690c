"""What is sent, in which company, and when: every step once, those that crashed alone."""

from __future__ import annotations

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from heldout.backends.dask import LARGEST_BATCH, TASK_SECONDS, Batch, BatchQueue


def steps(spreads: list[bool]) -> list[SimpleNamespace]:
    return [SimpleNamespace(spreads=spread) for spread in spreads]


def drained(queue: BatchQueue, *, threads: int) -> list[Batch]:
    batches = []
    while (batch := queue.next_batch(threads=threads, idle=True)) is not None:
        batches.append(batch)
    return batches


@given(st.lists(st.booleans(), max_size=60), st.integers(1, 9), st.floats(1e-6, 10.0))
def test_every_step_is_sent_once_and_those_that_spread_come_first(spreads, threads, seconds):
    queue = BatchQueue(steps(spreads))
    queue.observe(seconds)
    batches = drained(queue, threads=threads)
    sent = [number for batch in batches for number in batch.steps]
    assert sorted(sent) == list(range(len(spreads)))
    first = sent[: sum(spreads)]
    assert all(spreads[number] for number in first)
    assert all(len(batch.steps) == 1 for batch in batches if spreads[batch.steps[0]])


def test_batches_are_worth_a_message_and_shrink_towards_the_end():
    queue = BatchQueue(steps([False] * 1000))
    queue.observe(TASK_SECONDS / 50)
    sizes = [len(batch.steps) for batch in drained(queue, threads=2)]
    assert sizes[0] == 50
    assert sizes[-1] == 1
    assert sizes == sorted(sizes, reverse=True)


def test_before_anything_is_known_a_batch_is_one_step_and_never_more_than_the_most():
    queue = BatchQueue(steps([False] * 10_000))
    assert len(queue.next_batch(threads=1, idle=True).steps) == 1
    queue.observe(0.0)
    assert len(queue.next_batch(threads=1, idle=True).steps) == LARGEST_BATCH


def test_threads_are_shared_out_where_all_steps_spread_and_left_alone_where_not():
    spreading = BatchQueue(steps([True, True]))
    assert [batch.threads for batch in drained(spreading, threads=9)] == [4, 4]
    mixed = BatchQueue(steps([True, False]))
    assert [batch.threads for batch in drained(mixed, threads=9)] == [1, 1]


def test_those_that_crashed_wait_until_nothing_else_is_under_way_and_then_go_one_by_one():
    queue = BatchQueue(steps([False] * 4))
    queue.take_crash(Batch(steps=queue.next_batch(threads=1, idle=True).steps))
    queue.take_crash(Batch(steps=queue.next_batch(threads=1, idle=True).steps))
    others = [queue.next_batch(threads=1, idle=False) for _ in range(2)]
    assert [(batch.steps, batch.alone) for batch in others] == [((2,), False), ((3,), False)]
    assert queue.next_batch(threads=1, idle=False) is None
    assert [(batch.steps, batch.alone) for batch in drained(queue, threads=1)] == [((0,), True), ((1,), True)]


def test_what_is_put_back_comes_next_and_what_is_added_last():
    queue = BatchQueue(steps([False] * 3))
    first = queue.next_batch(threads=1, idle=True)
    queue.put_back(first)
    queue.add(3)
    assert [batch.steps for batch in drained(queue, threads=1)] == [(0,), (1,), (2,), (3,)]
