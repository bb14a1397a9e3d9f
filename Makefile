# Wingsmith. `make help` says what can be done.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

.DEFAULT_GOAL := help
.PHONY: help setup demo test check docs test-kubernetes bench acceptance lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-16s %s\n", $$1, $$2}'

setup: $(READY) ## install everything into .venv

$(READY): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(READY) ## run a whole fleet: hub, operators, simulated clusters
	@$(BIN)/hangar-demo

test: $(READY) ## all tests that need no Kubernetes
	@$(BIN)/python -m pytest tests --ignore=tests/kubernetes -n auto --dist loadgroup

check: $(READY) ## style, types, layers
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest tests/tidy

docs: $(READY) ## write docs/reference from the code
	@$(BIN)/python -m tools.reference

test-kubernetes: $(READY) ## tests on a real Kubernetes, built on first use
	@$(BIN)/python -m pytest tests/kubernetes

bench: $(READY) ## measure ours beside the peers' (nothing else should run)
	@$(BIN)/python -m bench

acceptance: $(READY) ## show each promise of this release on the real thing
	@$(BIN)/python -m acceptance

lock: ## pin the requirements anew
	@$(BIN)/python -m piptools --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet pip-tools
	@$(BIN)/python -m piptools compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --strip-extras --all-extras --allow-unsafe -o requirements/dev.txt pyproject.toml requirements/dev.in

clean: ## remove what was installed and built here
	rm -rf $(VENV) dist .mypy_cache .ruff_cache
