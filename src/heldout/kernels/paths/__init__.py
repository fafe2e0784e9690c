"""Paths: parameters whose smaller values can be read off one fit, one file a learner family."""

from heldout.kernels.paths.path import Path

PATHS: tuple[Path, ...] = ()
