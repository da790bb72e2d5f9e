# Everything below needs Python 3.11, make and a package registry; nothing else beforehand.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

# The versions that are installed, and those that build kwire: a release of somebody else's changes
# nothing here before `make constraints`.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

# What draws histories, vectors and examples: of this commit, so that each commit tries others.
ifndef KWIRE_SEED
KWIRE_SEED := $(shell $(PYTHON) -m tests.support.seed)
endif
export KWIRE_SEED
# Simulations begin where no test plays.
FIRST = $(shell echo $$((2000000 + 1000 * $(KWIRE_SEED))))

# loadgroup: a worker takes one test at a time, so that slow ones hold up no others; or a whole group.
PYTEST = $(BIN)/pytest -n auto --dist loadgroup $(OPTIONS)

# The tests that are run: files, folders or ids; all of them by default.
TESTS ?=

# With .pyc files collection takes half the time. Processes that tests start write none.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test real nightly long releases migrations bare lint bench conformance mutants vectors faults fuzz simulate kills interruptions sanitize audit secrets spark protocol pictures site declarations man seed constraints clean

demo: .venv/demo  ## a quorum, administered through the proxy, every RPC decoded; KAFKA=1 for real Kafka
	$(BIN)/$(if $(KAFKA),python -m real_kafka.demo,kwire demo)
	@echo "The command is $(BIN)/kwire; to call it kwire, run: . $(BIN)/activate"

check: .venv/ready  ## all that needs no Java, Spark, container or cluster: before every commit
	$(PYTEST) -m "not real and not nightly" $(TESTS)

test: .venv/ready  ## check, and each capability once with its real part: Kafka, Spark, Docker, a browser
	$(PYTEST) -m "not nightly" $(TESTS)

real: .venv/ready  ## what `make test` has besides `make check`
	$(PYTEST) -m "real and not nightly" $(TESTS)

NIGHTLY := long releases migrations simulate kills interruptions vectors fuzz faults conformance sanitize audit secrets bare
nightly:  ## all that is long; each part runs even if one before it failed; CONTRIBUTING.md
	$(MAKE) --keep-going EFFORT=8 MINUTES=10 ALL=all $(NIGHTLY)

long: .venv/ready  ## long forms of tests: sessions of operators, rare breaks; SHARE=3/20 WITHIN=300
	$(PYTEST) -m "nightly and not releases and not migrations" $(if $(SHARE),--share $(SHARE)) $(if $(WITHIN),--within $(WITHIN)) $(TESTS)

releases: .venv/ready  ## tests once more, with other releases of Kafka
	$(PYTEST) -m releases $(TESTS)

migrations: .venv/ready  ## real clusters from ZooKeeper to KRaft and back, controllers killed on the way
	$(BIN)/pytest -m migrations $(TESTS)

bare:  ## the demo and one of each kind of test on a minimal Debian, as root; ALL=all for make test
	.ci/bare $(ALL)

lint: .venv/ready  ## style, types and the arrows between the rooms
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: .venv/ready  ## kwire conform on every server that runs here, into build/conformance, SERVERS="kfake" for some; every check seen to fail
	$(BIN)/python -m conformance $(SERVERS)
	$(if $(SERVERS),,$(BIN)/python -m conformance --clients)
	$(if $(SERVERS),,$(MAKE) mutants)
	$(BIN)/pytest -m "nightly or real" tests/conform/test_breaks.py tests/conform/test_security_on_kafka.py tests/conform/checks/login

mutants: .venv/ready  ## one field of an answer or a request wrong, on Kafka 4.3.1: the share that kwire conform sees, by API
	$(BIN)/python -m breaking.mutants $(ROLES)

vectors: .venv/ready  ## 100 instances of every message version, 40 mutants of each
	KWIRE_INSTANCES=100 KWIRE_MUTANTS=40 $(BIN)/pytest -s --timeout 1800 tests/messages/test_vectors.py \
	  tests/messages/test_mutants.py tests/dissector/test_all_messages.py

MINUTES ?= 30
faults: .venv/ready  ## 30 minutes of faults on kwire's quorum, on Kafka 4.3.1 and 4.4.0, into build/faults; INTO=FOLDER
	for quorum in kwire kafka-4.3.1 kafka-4.4.0; do $(BIN)/python -m faults_lab --quorum $$quorum \
	  --schedule seed=$(KWIRE_SEED),minutes=$(MINUTES) --into $(or $(INTO),build/faults) \
	  --allow stale-refusal || exit 1; done

fuzz: .venv/ready  ## engines against each other: 20,000 examples a property, 1,000,000 mutants; untrusted inputs, SECONDS=300 each
	KWIRE_EXAMPLES=20000 $(BIN)/pytest --timeout 3600 tests/codec/test_engines.py
	$(BIN)/python -m engines.fuzz --mutants 1000000 --seed $(KWIRE_SEED)
	$(BIN)/python -m fuzzing --seconds $(or $(SECONDS),300) --seed $(KWIRE_SEED)

simulate: .venv/ready  ## 1,000 histories of each scenario of the raft core, 40 of each of whole nodes; WITHIN=60 for seconds of each
	$(BIN)/python -m simulator --first $(FIRST) $(if $(WITHIN),--within $(WITHIN),--seeds $(or $(SEEDS),1000))
	$(BIN)/python -m virtual_nodes --first $(FIRST) $(if $(WITHIN),--within $(WITHIN),--seeds $(or $(WORLDS),40))

kills: .venv/ready  ## leaders of a mixed quorum: 200 killed, 100 stopped for 3 to 6 s
	KWIRE_KILLS=$(or $(KILLS),200) KWIRE_PAUSES=$(or $(PAUSES),100) $(BIN)/pytest -s --timeout 7200 tests/controller/live/test_leader_kills.py

interruptions: .venv/ready  ## 50 kills of the pipeline's ingests, and 50 of the ledger's writers without Spark
	KWIRE_KILLS=$(or $(KILLS),50) $(BIN)/pytest -s --timeout 7200 tests/pipeline/test_faults.py tests/pipeline/store/test_ledger.py

sanitize: .venv/ready  ## the native engines under ASAN and UBSAN; EFFORT=8 for the long form
	$(BIN)/python -m tests.support.sanitize --seed $(KWIRE_SEED) --effort $(or $(EFFORT),1)

audit: .venv/audit  ## known vulnerabilities of constraints.txt; fails also where they cannot be known
	$(BIN)/python -m dependency_audit

secrets: .venv/ready  ## passwords, keys and tokens in tracked files that nobody has reviewed
	$(BIN)/python -m secret_scan

SPARK ?= 4.1.1
spark: build/pyspark-$(SPARK)  ## captures through another Spark's own Avro reader: SPARK=4.1.1
	PYTHONPATH=$(CURDIR)/$< $(BIN)/pytest tests/pipeline/test_avro.py

build/pyspark-%: .venv/ready
	PIP_CONSTRAINT= $(BIN)/pip install --quiet --no-deps --target $@ pyspark==$*

bench: .venv/bench  ## codec, admin, controller, proxy, recorder beside their peers; writes docs/reference/performance.md
	$(BIN)/python benchmarks/codec.py --write
	$(BIN)/python benchmarks/admin.py --write
	$(BIN)/python benchmarks/controllers.py --write
	$(BIN)/python benchmarks/migration.py --write
	$(BIN)/python benchmarks/proxy_cost.py $(if $(KAFKA_PROXY),--write --kafka-proxy $(KAFKA_PROXY))
	$(BIN)/python benchmarks/recorder.py
	$(BIN)/python benchmarks/watch_cost.py

protocol: .venv/ready  ## the facts of Kafka's protocol as JSON with its schema, and what changed, into build/protocol
	$(BIN)/python -m protocol_facts --pages

pictures: .venv/ready  ## what docs/debuggers/watch.md shows, into build/pictures; INTO=docs/images to renew it
	$(BIN)/python -m pictures.watch --into $(or $(INTO),build/pictures)

man: .venv/ready  ## man pages of all commands, into build/man; INTO=/usr/local/share/man for everybody
	$(BIN)/python -m man_pages $(or $(INTO),build/man)

site: .venv/ready  ## the pages of docs/ with references of everything, and a search, into build/site; a dead link fails
	$(BIN)/python -m docs_site

declarations: .venv/ready  ## write the declarations, tables of keys and protocol documents anew from Kafka's jars
	$(BIN)/python -m declarations
	$(BIN)/python -m config_keys
	$(BIN)/python -m protocol_facts

seed:  ## what this commit draws; KWIRE_SEED=N before a command plays another one again
	@echo $(KWIRE_SEED)

constraints: .venv/ready  ## today's versions of what the tests need; prints what changed
	$(BIN)/python -m constraints

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/demo: pyproject.toml constraints.txt hatch_build.py $(wildcard kwire/*/*/*.[ch] kwire/*/*/*/*.[ch])
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[kafka]'
	touch $@

.venv/ready: .venv/demo # PySpark and a browser's driver are many megabytes: the demo does not wait
	$(BIN)/pip install --quiet --upgrade pip # that of Python 3.11 knows no dependency groups
	$(BIN)/pip install --quiet --editable '.[all]' --group dev
	touch $@

.venv/bench: .venv/ready
	$(BIN)/pip install --quiet --group bench
	touch $@

.venv/audit: .venv/ready
	$(BIN)/pip install --quiet --group audit
	touch $@
