"""Sharing inside one training set: each Pipeline prefix fitted once, each path of values read off one fit."""

from heldout.kernels.within.answer import answer_within
from heldout.kernels.within.tree import Branch, grow_branches

__all__ = ["Branch", "answer_within", "grow_branches"]
