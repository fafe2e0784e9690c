"""The cases are run by `make faults`, each in a process of its own, and the quick ones by `test_quick.py` too."""

collect_ignore_glob = ["*_cases.py", "*_program.py", "ground.py", "run.py", "sigkill.py"]
