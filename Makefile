# Every command of the project. The first one builds .venv and installs the pinned packages; nothing is installed elsewhere.

PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null && echo $$python && break; done)
VENV ?= .venv
RUN = $(VENV)/bin/python
RUNTIME = $(VENV)/.runtime
TESTING = $(VENV)/.testing
PIP = $(RUN) -m pip install --quiet --disable-pip-version-check --no-input
ARGS ?=

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo run worker test check lint types imports bench soak format screenshots

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(RUNTIME)  ## virtual environment, packages, database with both roles, migrations
	$(RUN) manage.py setup_database --verbosity 0

demo: $(RUNTIME)  ## everything from nothing with real data and a round of questions; ONCE=1 stops after the round
	$(RUN) manage.py demo $(if $(ONCE),--once)

run: setup  ## web server, worker and clock until Ctrl-C
	$(RUN) manage.py run_services

worker: setup  ## a worker alone, for a machine of its own
	$(RUN) manage.py run_services worker

test: $(TESTING)  ## every test but the slow ones; browser tests where a Chromium is found (ARGS="…" for pytest)
	$(RUN) -m pytest $(ARGS)

check: lint types imports test  ## what CI runs

lint: $(TESTING)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .

types: $(TESTING)
	$(RUN) -m mypy

imports: $(TESTING)
	$(VENV)/bin/lint-imports

bench: $(TESTING)  ## measurements, written to bench/results.json
	$(RUN) -m bench $(ARGS)

soak: $(TESTING)  ## every promise measured, twenty minutes of everything being killed, README's table written anew
	$(RUN) -m bench.trust $(ARGS)

format: $(TESTING)  ## put the code into the one form
	$(RUN) -m ruff check --fix .
	$(RUN) -m ruff format .

screenshots: $(TESTING)  ## pictures of every page, wide and narrow, into var/screenshots
	$(RUN) -m pytest -m screenshots $(ARGS)

$(RUN):
	@test -n "$(PYTHON)" || { echo "Python 3.11 to 3.14 is needed (PYTHON=/path/to/python3 make …)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(RUNTIME): requirements.txt | $(RUN)
	$(PIP) -r requirements.txt
	@touch $@

$(TESTING): tests/requirements.txt $(RUNTIME)
	$(PIP) -r tests/requirements.txt
	@touch $@
