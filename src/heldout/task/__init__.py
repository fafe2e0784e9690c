"""The task: X, y and the roles of rows, checked once and fingerprinted."""

from heldout.task.declare import declare
from heldout.task.task import Task

__all__ = ["Task", "declare"]
