"""Studies are run by `make exactness`, and a part of them by `test_quick.py`; pytest collects tests alone."""

collect_ignore_glob = ["*_studies.py", "*_objectives.py", "compare.py", "run.py", "suite.py"]
