"""These are run by `make exactness`, and hold no tests that pytest could find."""

collect_ignore_glob = ["*.py"]
