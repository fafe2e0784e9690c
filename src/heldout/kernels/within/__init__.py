"""Shares work inside one training set: fits each Pipeline prefix once, and reads paths of values off one fit."""

from heldout.kernels.within.answer import answer_within
from heldout.kernels.within.tree import Branch, grow_branches

__all__ = ["Branch", "answer_within", "grow_branches"]
