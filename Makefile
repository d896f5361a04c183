# Two commands do all the set-up: `make run` and `make test`. The work is in scripts/.

WORKSPACE ?= workspace
ARGS ?=
PYTHON ?=
export PYTHON

.PHONY: help run demo test faults setup check format bench lock clean
.NOTPARALLEL:

help:
	@echo "make run      set up what is missing, then open the app    WORKSPACE=DIR ARGS='...' PYTHON=NAME"
	@echo "make demo     the scripted tour: needs no model and no key"
	@echo "make test     set up the test tools too, then run the tests ARGS='-k name'"
	@echo "make faults   every kill, cut, flip and chaos run, of which 'make test' takes a sample"
	@echo "make setup    all that 'make test' needs; starts nothing"
	@echo "make check    format, lint, types, import contracts"
	@echo "make format   write the code in its one format"
	@echo "make bench    measure, print a table of ratios"
	@echo "make lock     newest allowed versions into the lock files"
	@echo "make clean    remove everything made here, except workspace/"

run:
	@scripts/setup.sh user --quick
	@mkdir -p "$(WORKSPACE)"
	@exec scripts/run.sh --workspace "$(WORKSPACE)" $(ARGS)

demo:
	@scripts/setup.sh user --quick
	@exec scripts/run.sh tour --headless $(ARGS)

setup:
	@scripts/setup.sh test

test: setup
	@exec scripts/test.sh $(ARGS)

faults: setup
	@HANDRAIL_FAULTS=all exec scripts/test.sh --timeout=600 $$(grep -rl --include='test_*.py' support.exhaustive tests) $(ARGS)

check:
	@scripts/venv.sh dev
	@scripts/check.sh

format:
	@scripts/venv.sh dev
	@.venv/bin/python -m ruff check --fix .
	@.venv/bin/python -m ruff format .

bench: setup
	@.venv/bin/python -m bench $(ARGS)

lock:
	@scripts/venv.sh dev
	@scripts/lock.sh

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist snapshot_report.html
	find . -name __pycache__ -type d -not -path './workspace/*' -prune -exec rm -rf {} +
