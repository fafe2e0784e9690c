"""Trainings kept as ranges are the trainings they stand for."""

import pytest

from heldout.kernels.step import (
    Held,
    Plain,
    Training,
    count_trains,
    join,
    pieces_of,
    sides_of,
    splits_of,
)
from heldout.study.study import TrainRef


def written_out(panel, splits, parts):
    return tuple(Training((TrainRef(splits, p),), False, (Held(panel, "test", splits, p),)) for p in parts)


def plain(panel, splits, parts):
    return Plain(panel, "test", splits, parts)


AVERAGED = Training((TrainRef("c", 0), TrainRef("c", 1)), True, (Held("p", "test", "o", 0), Held("p", "test", "o", 1)))


def test_a_range_gives_what_it_stands_for():
    kept, full = plain("p", "a", range(3, 8)), written_out("p", "a", range(3, 8))
    assert tuple(kept) == full
    assert [kept[i] for i in range(-5, 5)] == [full[i] for i in range(-5, 5)]
    assert tuple(kept[1:3]) == full[1:3]
    assert isinstance(kept[1:3], Plain)
    with pytest.raises(IndexError):
        kept[5]


def test_joined_stretches_are_one_sequence():
    pieces = [plain("p", "a", range(2)), (AVERAGED,), plain("q", "b", range(4, 6))]
    joined = join(pieces)
    full = (*written_out("p", "a", range(2)), AVERAGED, *written_out("q", "b", range(4, 6)))
    assert tuple(joined) == full
    assert [joined[i] for i in range(-5, 5)] == [full[i] for i in range(-5, 5)]
    assert joined[1:4] == full[1:4]
    with pytest.raises(IndexError):
        joined[5]
    assert count_trains(joined) == count_trains(full) == 6
    assert sides_of(joined) == [held for t in full for held in t.answers]
    assert splits_of(joined) == splits_of(full) == {"a", "b", "c"}


def test_joining_keeps_what_is_alone_and_leaves_out_what_is_empty():
    alone = plain("p", "a", range(2))
    assert join([(), alone, ()]) is alone
    assert join([(AVERAGED,), (AVERAGED,)]) == (AVERAGED, AVERAGED)
    assert len(pieces_of(join([join([alone, (AVERAGED,)]), alone]))) == 3
