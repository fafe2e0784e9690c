# Everything here needs python3 with venv, and make; the rest it installs into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PEERS := $(VENV)/.peers

.PHONY: demo test check lint types imports browser screenshots exactness faults golden screens bench bench-streaming coverage coverage-second clean

demo: $(READY)            ## a nested study on a bundled dataset
	$(BIN)/python examples/demo.py

test: $(READY) check browser ## all that CI runs
	$(BIN)/python -m pytest -q -n 2 --dist loadfile

check: lint types imports ## style, types and the one-way imports

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy --strict src

imports: $(READY)
	$(BIN)/lint-imports

browser: $(READY)         ## a Chromium for the tests of pages, where there is none
	$(BIN)/python tests/browser/install.py

screenshots: $(READY) browser ## the pictures of reports in docs/, made again by the tests
	HELDOUT_SCREENSHOTS=1 $(BIN)/python -m pytest -q tests/browser

exactness: $(READY)       ## every kernel against brute force, on generated studies
	$(BIN)/python tests/exactness/run.py

faults: $(READY)          ## each fault made for real, and what the user saw
	$(BIN)/python tests/faults/run.py

golden: $(READY)          ## write the golden set anew, where a change of numbers is meant
	$(BIN)/python tests/golden/make.py

screens: $(READY)         ## write the first screens of the command anew, where a change is meant
	HELDOUT_SCREENS=1 $(BIN)/python -m pytest -q tests/cli/test_screens.py

bench: $(READY) $(PEERS)  ## ratios to scikit-learn and to specialists, side by side
	$(BIN)/python -m benchmarks

bench-streaming: $(READY) ## a file larger than memory; makes 9 GB in the temporary folder and removes them
	$(BIN)/python -m benchmarks.streaming

coverage: $(READY)        ## how often the intervals cover; resumable; writes docs/coverage.md
	$(BIN)/python -m benchmarks.coverage

coverage-second: $(READY) ## the same on the second grid, which no rule was tuned on; writes docs/coverage-second.md
	$(BIN)/python -m benchmarks.coverage --second

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $(READY)

$(PEERS): $(READY)
	$(BIN)/python -m pip install --quiet --group bench
	touch $(PEERS)

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis
