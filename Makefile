# Moonstone's commands. Everything runs from .venv, which is made from requirements.lock.
PYTHON ?= python3
VENV = .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
# The fault tests last so many times as long as in `make test`: 40 is 200 power cuts.
CHAOS_LENGTH ?= 40

.DEFAULT_GOAL := help
.PHONY: help run stranger test again coverage lint check chaos mutations bench openapi playthroughs lock

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

test: $(STAMP) ## every test, in parallel, against Valkey servers of their own
	@$(BIN)/python -m pytest -n 2 || { test $$? = 1 && $(MAKE) --no-print-directory again; }

again: $(STAMP) ## the tests that failed last, once more, one by one and alone
	@echo "What failed may have starved beside the others: it is judged alone. Please report what now passes."
	@$(BIN)/python -m pytest --last-failed --last-failed-no-failures none -rA --show-capture=no

# Whether the tests pass is for `make test` to say. A line that only a race takes may need a second run.
COVER = $(BIN)/python -m pytest -n 2 -p no:cacheprovider -m "not plays_long" --cov --cov-report= --cov-fail-under=0
coverage: $(STAMP) ## that rules, play, history and the log are covered whole by their own tests
	@$(COVER) tests/events tests/service || test $$? = 1
	@$(BIN)/coverage report || { { $(COVER) --cov-append tests/events tests/service || test $$? = 1; } && $(BIN)/coverage report; }

lint: $(STAMP) ## formatting, style, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache

check: lint test coverage ## all that CI runs

chaos: $(STAMP) ## every fault for long: power cuts, kills, crashes; on Debian's Redis too
	@test "$$(id -u)" != 0 || command -v redis-server >/dev/null || ! command -v apt-get >/dev/null || \
	  { apt-get -qq update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends redis-server; } >/dev/null
	@CHAOS_LENGTH=$(CHAOS_LENGTH) $(BIN)/python -m pytest -n 2 --dist=worksteal -rsP tests/chaos

mutations: $(STAMP) ## build every mutation in; each must make its test fail
	@$(BIN)/python -m tests.chaos.mutate

lock: ## renew requirements.lock from pyproject.toml
	@$(BIN)/pip-compile --quiet --generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	  --extra dev --extra embedded --output-file requirements.lock pyproject.toml

stranger: $(STAMP) ## schemathesis against the running service, in its long form
	@$(BIN)/python -m tests.openapi.stranger

openapi: $(STAMP) ## write openapi.yaml anew
	@$(BIN)/python -m api.openapi
	@$(BIN)/python -m tests.openapi.examples
	@$(BIN)/python -m api.openapi

playthroughs: $(STAMP) ## write the golden playthroughs anew; review the diff
	@$(BIN)/python -m tests.playthroughs

bench: $(STAMP) ## measure, each figure beside its floor; BENCH="--json FILE PART ..." for less or more
	@$(BIN)/python -m tests.benchmarks $(BENCH)
