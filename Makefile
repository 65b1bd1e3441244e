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

.PHONY: book test serve run record doctor lint lock viz clean setup
book: .venv/ready
	$(PY) -m torchbook book $(BOOKFLAGS)

# The tests of a file stay together, for their fixtures; files are shared out among as many processes as there are cores.
# Those that measure a time come first, by themselves. A browser may starve beside others: what fails there is tried once
# more by itself, and fails for good if it fails again.
test: .venv/ready
	$(PY) -m torchbook book $(BOOKFLAGS)
	$(PY) -m pytest -m alone; alone=$$?; \
	$(PY) -m pytest -m "not alone" -n logical --maxprocesses 8 --dist loadfile; others=$$?; \
	if test $$others -eq 1; then $(PY) -m pytest -m "not alone" --last-failed; others=$$?; fi; \
	test $$alone -eq 0 && test $$others -eq 0

serve: .venv/ready
	$(PY) -m torchbook serve

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

# For who changes torchbook/viz/src: npm's esbuild bundles it into torchbook/viz/static, which is committed; so is the
# library of the search page, in web/.
NODE := $(CURDIR)/.cache/npm
viz:
	mkdir -p $(NODE) && cp torchbook/viz/src/package*.json $(NODE) && npm ci --prefix $(NODE) --no-audit --no-fund --silent
	cd torchbook/viz/src && export PATH="$(NODE)/node_modules/.bin:$$PATH" NODE_PATH="$(NODE)/node_modules" \
	&& npm run --silent build && npm run --silent search

setup: .venv/ready

.venv/ready: requirements.txt pyproject.toml
	@$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or newer is needed, this is ' + sys.version.split()[0] + ': make PYTHON=python3.12 …')"
	test -x $(PY) || $(PYTHON) -m venv .venv
	$(PY) -m pip install --quiet "$(UV)"
	.venv/bin/uv pip install --quiet --python $(PY) --compile-bytecode --requirement requirements.txt
	.venv/bin/uv pip install --quiet --python $(PY) --no-deps --editable .
	touch $@

clean:
	rm -rf _build executed
