# `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test test-all check format bench clean

# the environment is made once, and again when the dependencies change
$(VENV)/.ready: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "hardmax needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	touch $@

$(VENV)/.checks: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[check]'
	touch $@

demo: $(VENV)/.ready  ## build and prove two real data sets
	mkdir -p out
	$(BIN)/hardmax build examples/vowels.json.gz -o out/vowels.npz
	$(BIN)/hardmax verify out/vowels.npz examples/vowels.json.gz
	$(BIN)/hardmax build examples/text.json -o out/text.npz
	$(BIN)/hardmax verify out/text.npz examples/text.json

test: $(VENV)/.ready  ## the quick tests, within 5 minutes
	$(BIN)/python -m pytest -m 'not slow'

test-all: $(VENV)/.ready  ## every test
	$(BIN)/python -m pytest

check: $(VENV)/.checks  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.checks  ## rewrite the code in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(VENV)/.ready  ## timings; prints tables
	$(BIN)/python benchmarks/build.py

clean:
	rm -rf $(VENV) out build dist *.egg-info
