# `make demo` and `make test` need Python 3.11+ and make, nothing else.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test test-all docs check format mutants fuzz bench figures clean proofs dist

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

$(VENV)/.all: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test,browser,oracles,convex,convex-oracles]'
	touch $@

test-all: $(VENV)/.all  ## every test, with the outside solvers and a browser where there is one
	HYPOTHESIS_PROFILE=house $(BIN)/python -m pytest

check: $(VENV)/.checks  ## format, lint, types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(VENV)/.checks  ## rewrite the code in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

proofs: $(VENV)/.ready  ## symbolic lemmas, errata, and the Rocq proofs where coqc is installed
	$(BIN)/python -m proofs

mutants: $(VENV)/.ready  ## 10 000 mutated models and data, judged three times; prints a report
	$(BIN)/python -m tests.attacks.mutants

fuzz: $(VENV)/.ready  ## a million broken files into every reader, guided by coverage
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	mkdir -p out
	$(BIN)/python -m tests.attacks.fuzz_readers -runs=1000000 -artifact_prefix=out/

bench: $(VENV)/.ready  ## timings; prints tables
	$(BIN)/python benchmarks/build.py
	$(BIN)/python benchmarks/engine.py
	$(BIN)/python benchmarks/scale.py

figures: $(VENV)/.ready  ## the paper's figures and an animation, into figures/
	$(BIN)/hardmax figures -o figures --format pdf --format svg --format png
	mkdir -p out
	$(BIN)/hardmax build examples/figure2.json -o out/figure2.npz
	$(BIN)/hardmax report out/figure2.npz examples/figure2.json -o figures/figure2.gif

dist: $(VENV)/.ready  ## sdist and wheel, and the wheel alone in an empty environment
	rm -rf build dist
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build
	$(BIN)/python -m build --quiet
	$(PYTHON) -m venv build/alone
	build/alone/bin/pip install --quiet --disable-pip-version-check dist/*.whl
	cd build && alone/bin/python -m hardmax.selftest

$(VENV)/.docs: $(VENV)/.ready
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

docs: $(VENV)/.docs  ## the documentation site, into site/; a warning is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict

clean:
	rm -rf $(VENV) out site build dist *.egg-info
