# Two commands do everything on a fresh Debian: `make demo` and `make test`.
# Set-up (apt packages, .venv, build) happens on the first call only.

LLVM_PREFIX ?= /usr/lib/llvm-22
PYTHON      ?= python3
VENV        := .venv
BIN         := $(VENV)/bin
BUILD       := build
JOBS        ?= $(shell nproc)

# What the build and the tests call. `command -v`-like checks would miss the headers,
# so dpkg is asked.
APT_PACKAGES := g++ clang-22 clang-format-22 cmake ninja-build ccache git python3-dev python3-venv \
  libmlir-22-dev mlir-22-tools llvm-22-dev llvm-22-tools lld-22

export PATH := $(CURDIR)/$(BUILD)/bin:$(CURDIR)/$(BIN):$(LLVM_PREFIX)/bin:$(PATH)
export PYTHONPATH := $(CURDIR)/$(BUILD)/python

.PHONY: help demo test fuzz nightly test-integration bench docs lint format build clean
help:
	@echo "make demo   compile the FP8 GEMM with and without the alias-scope pass and compare"
	@echo "make test   run everything: lit and pytest"
	@echo "make nightly   run thousands of random kernels, and all K/V/Q copies"
	@echo "make fuzz   try many more bad inputs than \`make test\` does"
	@echo "make test-integration   run the tests that need other projects' wheels"
	@echo "make bench  measure compile-time and code-quality figures, each against a peer"
	@echo "make docs   build the documentation site into site/"
	@echo "make lint   clang-format, ruff, mypy"

# Set-up ------------------------------------------------------------------------

$(BUILD)/.apt: Makefile
	@missing=$$(for p in $(APT_PACKAGES); do \
	    dpkg-query -W -f='$${Status}' $$p 2>/dev/null | grep -q 'ok installed' || echo $$p; done); \
	  if [ -n "$$missing" ]; then \
	    sudo=; [ "$$(id -u)" = 0 ] || sudo=sudo; \
	    echo "installing with $${sudo:+sudo }apt-get:" $$missing; \
	    $$sudo apt-get update -qq && \
	    DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends $$missing >/dev/null || exit 1; \
	  fi
	@mkdir -p $(BUILD) && touch $@

# The Python requirements have one home, pyproject.toml.
$(VENV)/.installed: pyproject.toml $(BUILD)/.apt
	@[ -x $(BIN)/python ] || $(PYTHON) -m venv $(VENV)
	@echo "installing Python packages into $(VENV)"
	@$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	  print('\n'.join(p['build-system']['requires'] + p['project']['dependencies'] \
	  + [r for g in p['project']['optional-dependencies'].values() for r in g]))" \
	  | $(BIN)/pip install --quiet --disable-pip-version-check -r /dev/stdin
	@touch $@

$(BUILD)/build.ninja: $(VENV)/.installed
	@cmake -S . -B $(BUILD) -G Ninja -DMLIR_DIR=$(LLVM_PREFIX)/lib/cmake/mlir \
	  -DCMAKE_C_COMPILER=clang-22 -DCMAKE_CXX_COMPILER=clang++-22 \
	  -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python >$(BUILD)/cmake.log || { cat $(BUILD)/cmake.log; exit 1; }

build: $(BUILD)/build.ninja
	@[ -e $(BUILD)/lib/libLodestone.so ] || echo "building into $(BUILD): takes some minutes the first time"
	@ninja -C $(BUILD) --quiet -j $(JOBS)

# Work --------------------------------------------------------------------------

demo: build
	@lodestone demo

test: build
	@lit $(BUILD)/test --order=random -sv -j $(JOBS)
	@pytest test/python -q -n $(JOBS)

# `make test` runs 50, 6, 34, 32 and 24 of these; of the forms of a loop of copies, 4 and not all 24.
# LODESTONE_PIPELINED_SEED, LODESTONE_ARITHMETIC_SEED, LODESTONE_KV_TILES_SEED,
# LODESTONE_TILE_LOOPS_SEED and LODESTONE_TDM_COPIES_SEED choose others.
nightly: build
	@LODESTONE_PIPELINED_KERNELS=1000 LODESTONE_ARITHMETIC_KERNELS=200 LODESTONE_KV_TILES=100000 \
	  LODESTONE_TILE_LOOPS=1000 LODESTONE_TDM_COPIES=2000 \
	  pytest -q -n $(JOBS) test/python/sim/test_pipelined_kernels.py \
	  test/python/sim/test_random_arithmetic.py test/python/sim/test_kv_tile_load.py \
	  test/python/sim/test_tile_loops.py test/python/tdm/test_random_copies.py

# Other projects' wheels stay out of the main environment.
INTEGRATION := $(BUILD)/venv-integration
$(INTEGRATION)/.installed: pyproject.toml
	@[ -x $(INTEGRATION)/bin/python ] || $(PYTHON) -m venv $(INTEGRATION)
	@echo "installing the integration tests' packages into $(INTEGRATION)"
	@$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	  print('\n'.join(p['project']['dependencies'] + p['project']['optional-dependencies']['test'] \
	  + p['dependency-groups']['integration']))" \
	  | $(INTEGRATION)/bin/pip install --quiet --disable-pip-version-check -r /dev/stdin
	@touch $@

# Twenty times as many bad inputs as `make test` tries, and others on every run.
fuzz: build
	@seed=$${LODESTONE_FUZZ_SEED:-$$(date +%s)}; echo "LODESTONE_FUZZ_SEED=$$seed"; \
	  LODESTONE_FUZZ_SEED=$$seed LODESTONE_FUZZ_COUNT=$${LODESTONE_FUZZ_COUNT:-20} \
	  pytest test/python/test_fuzz.py -q -n $(JOBS)

test-integration: build $(INTEGRATION)/.installed
	@$(INTEGRATION)/bin/python -m pytest test/python -q -m integration

# What the figures are compared with.
PEERS := $(BUILD)/venv-peers
$(PEERS)/.installed: pyproject.toml
	@[ -x $(PEERS)/bin/python ] || $(PYTHON) -m venv $(PEERS)
	@echo "installing the benchmarks' peers into $(PEERS)"
	@$(BIN)/python -c "import tomllib; p = tomllib.load(open('pyproject.toml', 'rb')); \
	  print('\n'.join(p['dependency-groups']['peers']))" \
	  | $(PEERS)/bin/pip install --quiet --disable-pip-version-check -r /dev/stdin
	@touch $@

# Each figure against a peer or a limit in the same run; all of it takes some minutes.
bench: build $(PEERS)/.installed
	@for script in benchmarks/*.py; do $(BIN)/python $$script || exit 1; done

lint: build
	@git ls-files '*.cpp' '*.h' | xargs clang-format-22 --dry-run -Werror
	@ruff check . && ruff format --check .
	@mypy python/lodestone docs/reference.py test/python/doc_snippets.py

# What TableGen and --help know is generated; the stubs of the native module are the build's.
docs: build
	@$(BIN)/python docs/reference.py $(BUILD)/docs
	@mkdocs build --strict --quiet --site-dir site
	@echo "the site is in site/index.html"

format:
	@git ls-files '*.cpp' '*.h' | xargs clang-format-22 -i
	@ruff format . && ruff check --fix .

clean:
	rm -rf $(BUILD) $(VENV) site
