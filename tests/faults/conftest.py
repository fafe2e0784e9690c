"""The cases are run by `make faults`, each in a process of its own; pytest collects only what is named a test."""

collect_ignore_glob = ["*_cases.py", "*_program.py", "ground.py", "run.py", "sigkill.py"]
