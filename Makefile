# Moonstone's commands. Everything runs from .venv, which is made from requirements.lock.
PYTHON ?= python3
VENV = .venv
MUTMUT = $(VENV)/mutmut
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
# Tests wait for processes, disks and deadlines for more than half of their time, so six test processes keep two cores busy.
PYTEST = $(BIN)/python -m pytest -n 6 --dist=worksteal
# A test that hangs fails after five minutes, with the stacks of all threads.
LIMIT = -o faulthandler_timeout=300 -o faulthandler_exit_on_timeout=true
# The length of tests that have a long form, as a multiple of their length in `make test`: 40 means 200 power cuts.
TEST_LENGTH ?= 40
TESTS ?= tests
# Write bytecode: the tests start hundreds of processes, and each would compile the service again.
export PYTHONDONTWRITEBYTECODE =

.DEFAULT_GOAL := help
.PHONY: help setup run test again coverage lint bytecode check browser long mutations bench openapi vendor playthroughs lock

help: ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

$(STAMP): requirements.lock pyproject.toml
	@echo "Setting up $(VENV); the first time this takes about a minute."
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@# Most modules of the libraries are never imported, so each is compiled at its first import and not here.
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $(STAMP)

setup: $(STAMP) ## set up .venv, and start nothing

run: $(STAMP) ## start the whole service on this machine; Ctrl-C stops it
	@$(BIN)/moonstone serve

# `make test` measures coverage, and `make coverage` checks it.
MEASURE = --cov --cov-report= --cov-fail-under=0
test: $(STAMP) ## run every test, in parallel, with its own Valkey servers
	@$(PYTEST) $(LIMIT) $(MEASURE) || { test $$? = 1 && $(MAKE) --no-print-directory again; }

again: $(STAMP) ## run the tests that failed last once more, one by one
	@echo "A test may have failed only because of the load of the others, so it runs again alone. Please report tests that pass now."
	@$(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rA --show-capture=no

# Failing tests are ignored here; `make test` reports them. Some lines run only if two threads collide, so `coverage` may run twice.
UNMEASURED = adapters local_arena observability ops
COVER = { $(PYTEST) -p no:cacheprovider $(MEASURE) --cov-append tests/events tests/service $(UNMEASURED:%=--ignore=tests/service/%) || test $$? = 1; }
.coverage: $(STAMP) $(shell find events service tests -name '*.py')
	@rm -f $@
	@$(COVER)
coverage: .coverage ## check that tests cover the rules, play, history and the log completely
	@$(BIN)/coverage report || { $(COVER) && $(BIN)/coverage report; }

lint: $(STAMP) ## check formatting, style, types and import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(BIN)/python -m tests.api.web.types

# On a fresh clone each test process would compile all tests. Errors are ignored here; `make test` reports them.
bytecode: $(STAMP) ## compile the tests and what they import, which can be done beside `make lint`
	@$(BIN)/python -m pytest -n 0 --collect-only -qq >/dev/null || true

check: lint test coverage ## run everything that CI runs

# Installs a package of Debian if the program of its name is missing and this is root on Debian; else tests that need it are skipped.
DEBIAN = command -v $(1) >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	{ apt-get -qq update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $(1); } >/dev/null

browser: ## install Chromium for the tests of the web client, if this is root on Debian
	@$(call DEBIAN,chromium-headless-shell) || echo "Chromium could not be installed, so the tests of the web client will be skipped."

long: $(STAMP) browser ## run the long form of the tests (or of TESTS): more faults, more random inputs, whole matches
	@$(call DEBIAN,redis-server)
	@TEST_LENGTH=$(TEST_LENGTH) $(PYTEST) -n 2 -m long -rsP $(TESTS)

mutations: $(STAMP) ## inject faults that tests must find; continues where it was stopped
	@test -d $(MUTMUT) || $(BIN)/pip install -q --target $(MUTMUT) mutmut==3.8.1
	@PYTHONPATH=$(MUTMUT) $(BIN)/python -m mutmut run --max-children 2
	@PYTHONPATH=$(MUTMUT) $(BIN)/python -m tests.chaos.survivors
	@$(BIN)/python -m tests.chaos.mutate

lock: ## renew requirements.lock from pyproject.toml
	@$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	  --extra dev --extra embedded --output-file requirements.lock pyproject.toml

openapi: $(STAMP) ## generate openapi.yaml
	@$(BIN)/python -m tests.openapi.reference
	@$(BIN)/python -m tests.openapi.examples
	@$(BIN)/python -m tests.openapi.reference

vendor: $(STAMP) ## renew the libraries of the web client from npm
	@$(BIN)/python -m tests.openapi.tools preact htm @preact/signals @preact/signals-core
	@$(BIN)/python -m tests.api.web.vendor

playthroughs: $(STAMP) ## generate the golden playthroughs; review the diff
	@$(BIN)/python -m tests.playthroughs

bench: $(STAMP) ## run the benchmarks, each with its lower bound; BENCH="--json FILE PART ..." selects parts
	@$(BIN)/python -m tests.benchmarks $(BENCH)
