# `make check` is what CI runs. PYTHON is the interpreter of the environment that the project is installed in.
PYTHON ?= python

.PHONY: check check-static test verify proofs bench

check: check-static test verify

check-static:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

test:
	$(PYTHON) -m pytest

verify:
	$(PYTHON) -m cli verify --quick --seed 1

# Every mutant on every case, on fresh inputs: for the night, and after a change of the engine.
proofs:
	$(PYTHON) -m cli verify --no-cache

bench:
	$(PYTHON) benchmarks/all.py
