# The README's two commands are `make demo` and `make test`. Each sets up .venv from the lock file first.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: setup demo test test-slow wheels docs picture lint types bench bench-peers tables lock lock-browser clean

setup: $(READY)

$(READY): requirements.lock pyproject.toml
	@echo "setting up .venv from requirements.lock (once, about a minute)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed; try: make PYTHON=python3.12")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src
	@$(BIN)/python -m dpbench.mathematics.kernels
	@$(BIN)/dpbench report --out build/page > /dev/null  # the first page takes seconds; it keeps what the next ones need
	@touch $@

demo: setup
	@$(BIN)/dpbench run demo
	@$(BIN)/dpbench report dpbench-store/demo --out dpbench-store/demo-page

# one worker more than cores: some tests wait for processes that hang or are killed
WORKERS ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')
test: setup
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

test-slow: setup
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "slow or not slow"

docs: setup
	@$(BIN)/python -m sphinx --fail-on-warning --keep-going --fresh-env --write-all --quiet docs build/docs
	@echo "build/docs/index.html: open it in any browser; it needs no network"

# The wheel as a user gets it, with what it needs and the runner of the tests, in an environment of its own for each Python
PYTHONS ?= 3.11 3.12 3.13
TRIED := tests/algorithms/test_hb.py tests/store tests/cli/test_cli.py tests/cli/test_command_line.py tests/cli/test_run.py
wheels: setup
	@rm -rf build/wheels && $(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w build/wheels .
	@for version in $(PYTHONS); do \
		echo "--- Python $$version" && python$$version -m venv build/wheels/$$version && here=build/wheels/$$version/bin \
		&& $$here/python -m pip install --quiet --disable-pip-version-check build/wheels/*.whl pytest pytest-xdist hypothesis \
		&& $$here/dpbench --help > /dev/null && $$here/dpbench paper | tail -n 2 \
		&& $$here/dpbench recommend --cells 128x128 --epsilon 0.5 --records 300000 | tail -n 1 \
		&& $$here/dpbench check Identity --cases 48 --quiet | tail -n 1 \
		&& $$here/dpbench run demo --algorithm Hb --domain 64 --scale 1000 --samples 1 --store build/wheels/demo-$$version --quiet > /dev/null \
		&& $$here/dpbench report build/wheels/demo-$$version --out build/wheels/page-$$version \
		&& $$here/python -m pytest -q -n auto $(TRIED) || exit 1; \
	done

CHROMIUM ?= chromium
picture: setup
	@$(BIN)/dpbench report --out build/page
	@$(CHROMIUM) --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --hide-scrollbars \
		--virtual-time-budget=20000 --window-size=1200,870 --screenshot="$(CURDIR)/docs/page.png" \
		"file://$(CURDIR)/build/page/index.html" 2> build/picture.log || { cat build/picture.log; exit 1; }
	@ls -l docs/page.png

lint: setup
	@$(BIN)/ruff check src tests benchmarks docs
	@$(BIN)/ruff format --check src tests benchmarks docs
	@$(BIN)/lint-imports

types: setup
	@$(BIN)/mypy

# `before` is the code at BEFORE, whose runs alternate with ours; AGAINST names a folder with any other dpbench package
BEFORE ?= f0bc9ee
AGAINST ?= build/before-$(BEFORE)/src
bench: setup
	@test -d "$(AGAINST)" || { mkdir -p build/before-$(BEFORE) && git archive $(BEFORE) src | tar -x -C build/before-$(BEFORE); } \
		|| echo "the code at $(BEFORE) is not in this clone: nothing to compare with"
	@$(BIN)/python -m benchmarks.speed $$(test -d "$(AGAINST)" && echo --against "$(AGAINST)")

# Other libraries, in an environment of their own: they pin what ours does not. SmartNoise brings torch, some
# gigabytes; without it: make bench-peers PEERS=peers
PEERS ?= peers,peers-mwem
bench-peers:
	@test -x .venv-peers/bin/python || $(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -e '.[$(PEERS)]'
	@.venv-peers/bin/python -m benchmarks.peers

TRAINED := src/dpbench/repair/trained
DOMAINS := --domain 256 --domain 4096 --domain 32x32 --domain 128x128
tables: setup
	@$(BIN)/dpbench tune AHP $(DOMAINS) --trials 10 --out $(TRAINED)/ahp.json
	@$(BIN)/dpbench tune MWEM $(DOMAINS) --signal 1 7 --trials 5 --out $(TRAINED)/mwem.json

# One lock file for every system and Python: versions and hashes, no addresses
LOCKED := cluster figures docs dev
lock: setup
	@$(PYTHON) -m venv build/locking && build/locking/bin/python -m pip install --quiet --disable-pip-version-check uv
	@build/locking/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest --generate-hashes \
		$(LOCKED:%=--extra %) --no-emit-index-url --no-emit-find-links --no-header \
		--output-file requirements.lock pyproject.toml

# What drives the browser in the tests of the page: not part of the environment, as it is 50 megabytes
lock-browser: setup
	@$(BIN)/python -m pip install --quiet pip-tools
	@printf '%s\n' playwright axe-playwright-python | $(BIN)/pip-compile --quiet --generate-hashes --strip-extras --no-annotate \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-header --output-file requirements-browser.lock -

clean:
	@rm -rf .venv .venv-peers build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
