# `make check` is what CI runs. PYTHON is the interpreter of the environment that the project is installed in.
PYTHON ?= python

.PHONY: check check-static test verify bench

check: check-static test verify

check-static:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy

test:
	$(PYTHON) -m pytest

verify:
	$(PYTHON) -m cli verify --seed 1

bench:
	$(PYTHON) benchmarks/all.py
