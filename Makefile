# Each target is one line over `.venv`, which `make` sets up by itself the first time and after a change of the lock.
PYTHON ?= python3
UV ?= uv==0.13.8
PY := .venv/bin/python
# A folder of data files laid beside the clone is used in place; otherwise the user's cache, or a download.
ifneq ($(wildcard ../shared/data),)
export TORCHBOOK_DATA ?= $(realpath ../shared/data)
endif

# For instance BOOKFLAGS=--fast: small sizes, same cells.
BOOKFLAGS ?=
# FRESH=1 keeps no proof from before this command: every chapter runs, every test too (see torchbook_proofs).
FRESH ?=
ifneq ($(FRESH),)
export TORCHBOOK_FRESH := $(shell date +%s)
endif
PYTEST := $(PY) -m pytest --kept
# One process more than there are cores: a third of the time of most tests is waiting for browsers and kernels.
PROCESSES := $(shell $(PYTHON) -c "import os; print(min(8, (os.cpu_count() or 1) + 1))")
SIDE_BY_SIDE := -n $(PROCESSES) --dist worksteal

.PHONY: book test check serve run record doctor lint lock viz clean setup
book: .venv/ready
	$(PY) -m torchbook book $(BOOKFLAGS)

# Tests that measure a time come last, by themselves, so that a failure of either kind stands in the last lines. The
# others are shared out among as many processes as there are cores, and one more.
test: .venv/ready
	$(PY) -m torchbook book $(BOOKFLAGS)
	$(PYTEST) -m "not alone" $(SIDE_BY_SIDE); others=$$?; \
	$(PYTEST) -m alone $$(grep -rlE 'mark\.alone\b' tests --include='test_*.py'); alone=$$?; \
	test $$alone -eq 0 && test $$others -eq 0

# For the author's loop: style, types, and the rooms that the change at hand touches.
check: .venv/ready
	$(PYTEST) -m "not alone and not browser" $(SIDE_BY_SIDE) $$($(PY) -m tests.touched)

# ONLY=p01: with the outputs of that chapter, run first, at small sizes; other pages stand without until they run.
serve: .venv/ready
	$(PY) -m torchbook serve $(if $(ONLY),--only $(ONLY)) $(if $(PORT),--port $(PORT))

run: .venv/ready
	$(PY) -m torchbook run

# Needs a CUDA device.
record: .venv/ready
	$(PY) -m torchbook record

doctor: .venv/ready
	$(PY) -m torchbook doctor

lint: .venv/ready
	$(PY) -m pytest tests/test_style.py

lock: .venv/ready
	.venv/bin/uv pip compile pyproject.toml --all-extras --universal --python-version 3.11 --no-emit-index-url --no-annotate --custom-compile-command "make lock" -o requirements.txt $(LOCKFLAGS)

# For who changes torchbook/viz/src: npm's esbuild bundles it into torchbook/viz/static, which is committed; so are the
# library of the search page, in web/, and the editor of cells that run in the page, in torchbook/server/client.
NODE := $(CURDIR)/.cache/npm
viz:
	mkdir -p $(NODE) && cp torchbook/viz/src/package*.json $(NODE) && npm ci --prefix $(NODE) --no-audit --no-fund --silent
	cd torchbook/viz/src && export PATH="$(NODE)/node_modules/.bin:$$PATH" NODE_PATH="$(NODE)/node_modules" \
	&& npm run --silent build && npm run --silent live && npm run --silent search

setup: .venv/ready

.venv/ready: requirements.txt pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14) and 'Python 3.11 to 3.14 is needed, this is ' + sys.version.split()[0] + ': make PYTHON=python3.12 …')"
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet "$(UV)"
	.venv/bin/uv pip install --quiet --python $(PY) --compile-bytecode --requirement requirements.txt
	.venv/bin/uv pip install --quiet --python $(PY) --no-deps --editable .
	touch $@

clean:
	rm -rf _build executed
