# Moonstone's commands. Everything runs from .venv, which is made from requirements.lock.
PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
# Tests wait half of their time, for processes, disks and deadlines: four at once keep two cores busy.
PYTEST = $(BIN)/python -m pytest -n 4 --dist=worksteal
# How many times as long as in `make test` the tests last that have a long form: 40 is 200 power cuts.
TEST_LENGTH ?= 40
TESTS ?= tests
# The tests start hundreds of processes, each of which would compile the service anew.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help run test again coverage lint check long mutations bench openapi playthroughs lock

help: ## what can be made
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): requirements.lock pyproject.toml
	@echo "Setting up $(VENV); the first time this takes about a minute."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

run: $(STAMP) ## start the whole service on this machine; Ctrl-C stops it
	@$(BIN)/moonstone serve

# Coverage is measured on the way, and judged by `make coverage`.
MEASURE = --cov --cov-report= --cov-fail-under=0
test: $(STAMP) ## every test, in parallel, against Valkey servers of their own
	@$(PYTEST) $(MEASURE) || { test $$? = 1 && $(MAKE) --no-print-directory again; }

again: $(STAMP) ## the tests that failed last, once more, one by one and alone
	@echo "What failed may have starved beside the others: it is judged alone. Please report what now passes."
	@$(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rA --show-capture=no

# Whether the tests pass is for `make test` to say. A line that only a race takes may need a second run.
COVER = { $(PYTEST) -p no:cacheprovider $(MEASURE) --cov-append tests/events tests/service || test $$? = 1; }
.coverage: $(STAMP) $(shell find events service tests -name '*.py')
	@rm -f $@
	@$(COVER)
coverage: .coverage ## that rules, play, history and the log are covered whole by their own tests
	@$(BIN)/coverage report || { $(COVER) && $(BIN)/coverage report; }

lint: $(STAMP) ## formatting, style, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

check: lint test coverage ## all that CI runs

long: $(STAMP) ## the long form of tests, or of those in TESTS: every fault for long, all strangers' inputs, whole matches
	@test "$$(id -u)" != 0 || command -v redis-server >/dev/null || ! command -v apt-get >/dev/null || \
	  { apt-get -qq update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends redis-server; } >/dev/null
	@TEST_LENGTH=$(TEST_LENGTH) $(PYTEST) -n 2 -m long -rsP $(TESTS)

mutations: $(STAMP) ## build faults in, which tests must find; goes on where it was stopped
	@$(BIN)/mutmut run --max-children 2
	@$(BIN)/python -m tests.chaos.survivors
	@$(BIN)/python -m tests.chaos.mutate

lock: ## renew requirements.lock from pyproject.toml
	@$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	  --extra dev --extra embedded --output-file requirements.lock pyproject.toml

openapi: $(STAMP) ## write openapi.yaml anew
	@$(BIN)/python -m tests.openapi.reference
	@$(BIN)/python -m tests.openapi.examples
	@$(BIN)/python -m tests.openapi.reference

playthroughs: $(STAMP) ## write the golden playthroughs anew; review the diff
	@$(BIN)/python -m tests.playthroughs

bench: $(STAMP) ## measure, each figure beside its floor; BENCH="--json FILE PART ..." for less or more
	@$(BIN)/python -m tests.benchmarks $(BENCH)
