"""The task: X, y and the roles of rows, checked once and fingerprinted."""

from heldout.task.task import Task, declare

__all__ = ["Task", "declare"]
