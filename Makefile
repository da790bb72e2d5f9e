# Everything below needs Python 3.11, make and a package registry; nothing else beforehand.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin

# The versions that are installed, and those that build kwire: a release of somebody else's changes
# nothing here before `make constraints`.
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt

.PHONY: demo test long releases migrations bare lint bench conformance vectors faults fuzz simulate kills interruptions sanitize spark declarations constraints clean

demo: .venv/demo  ## a quorum, administered through the proxy, every RPC decoded; KAFKA=1 for real Kafka
	$(BIN)/$(if $(KAFKA),python -m real_kafka.demo,kwire demo)
	@echo "The command is $(BIN)/kwire; to call it kwire, run: . $(BIN)/activate"

# loadgroup: a worker takes one test at a time, so that slow ones hold up no others; or a whole group.
test: .venv/ready  ## the suite, real Kafka included, on two workers; without the long tests
	$(BIN)/pytest -n 2 --dist loadgroup -m "not long"

long: .venv/ready  ## the tests that drive clusters for minutes: sessions of operators, every operation, Spark
	$(BIN)/pytest -n 2 --dist loadgroup -m "long and not releases and not migrations"

releases: .venv/ready  ## the longest of them once more, with another release of Kafka
	$(BIN)/pytest -n 2 --dist loadgroup -m releases

migrations: .venv/ready  ## real clusters from ZooKeeper to KRaft and back, controllers killed on the way
	$(BIN)/pytest -m migrations

bare:  ## the demo and one of each kind of test on a minimal Debian, as root; ALL=all for every test
	.ci/bare $(ALL)

lint: .venv/ready  ## style, types and the arrows between the rooms
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

conformance: .venv/ready  ## kwire conform on every server that runs here, SERVERS="kfake" for some; every check seen to fail
	$(BIN)/python -m conformance $(SERVERS)
	$(BIN)/pytest --timeout 3600 tests/conform/test_breaks.py tests/conform/test_security_on_kafka.py

vectors: .venv/ready  ## a fresh seed, 100 instances of every message version, 40 mutants of each
	KWIRE_SEED=$$(date +%s) KWIRE_INSTANCES=100 KWIRE_MUTANTS=40 \
	  $(BIN)/pytest -s --timeout 3600 tests/messages/test_vectors.py tests/messages/test_mutants.py \
	  tests/dissector/test_all_messages.py

faults: .venv/ready  ## 30 minutes of faults on kwire's quorum, on Kafka 4.3.1 and 4.4.0; writes docs/faults
	for quorum in kwire kafka-4.3.1 kafka-4.4.0; do $(BIN)/python -m faults_lab --quorum $$quorum \
	  --schedule seed=$(or $(SEED),1),minutes=30 --into docs/faults --allow stale-refusal || exit 1; done

fuzz: .venv/ready  ## engines against each other: 20,000 examples a property, 1,000,000 mutants
	KWIRE_EXAMPLES=20000 $(BIN)/pytest --timeout 3600 tests/codec/test_engines.py
	$(BIN)/python -m engines.fuzz --mutants 1000000

simulate: .venv/ready  ## 1,000 histories of every scenario, of the raft core and of whole nodes
	$(BIN)/python -m simulator --seeds $(or $(SEEDS),1000)
	$(BIN)/python -m virtual_nodes --seeds $(or $(WORLDS),1000)

kills: .venv/ready  ## leaders of a mixed quorum: 200 killed, 100 stopped for 3 to 6 s; SEED=2 for others
	KWIRE_KILLS=$(or $(KILLS),200) KWIRE_PAUSES=$(or $(PAUSES),100) KWIRE_SEED=$(or $(SEED),1) $(BIN)/pytest -s --timeout 7200 tests/controller/live/test_leader_kills.py

interruptions: .venv/ready  ## 50 kills of the pipeline's ingests, and 50 of the ledger's writers without Spark; SEED=3
	KWIRE_KILLS=$(or $(KILLS),50) KWIRE_SEED=$(or $(SEED),2) $(BIN)/pytest -s --timeout 7200 tests/pipeline/test_faults.py tests/pipeline/store/test_ledger.py

sanitize: .venv/ready  ## the native engine under ASAN and UBSAN; EFFORT=8 for the long form
	$(BIN)/python -m tests.support.codec.native.sanitize --effort $(or $(EFFORT),1)

SPARK ?= 4.1.1
spark: build/pyspark-$(SPARK)  ## captures through another Spark's own Avro reader: SPARK=4.1.1
	PYTHONPATH=$(CURDIR)/$< $(BIN)/pytest tests/pipeline/test_avro.py

build/pyspark-%: .venv/ready
	PIP_CONSTRAINT= $(BIN)/pip install --quiet --no-deps --target $@ pyspark==$*

bench: .venv/bench  ## codec, admin, controller, proxy, recorder beside their peers; writes docs/performance.md
	$(BIN)/python benchmarks/codec.py --write
	$(BIN)/python benchmarks/admin.py --write
	$(BIN)/python benchmarks/controllers.py --write
	$(BIN)/python benchmarks/migration.py --write
	$(BIN)/python benchmarks/proxy_cost.py $(if $(KAFKA_PROXY),--write --kafka-proxy $(KAFKA_PROXY))
	$(BIN)/python benchmarks/recorder.py
	$(BIN)/python benchmarks/watch_cost.py

declarations: .venv/ready  ## write the declarations, tables of keys and protocol documents anew from Kafka's jars
	$(BIN)/python -m declarations
	$(BIN)/python -m config_keys
	$(BIN)/python -m protocol_facts

constraints: .venv/ready  ## today's versions of what the tests need; prints what changed
	$(BIN)/python -m constraints

clean:
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/demo: pyproject.toml constraints.txt hatch_build.py $(wildcard kwire/codec/native/*.[ch])
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable '.[kafka]'
	touch $@

.venv/ready: .venv/demo # PySpark and a browser's driver are many megabytes: the demo does not wait
	$(BIN)/pip install --quiet --editable '.[dev]'
	touch $@

.venv/bench: .venv/ready
	$(BIN)/pip install --quiet --editable '.[bench]'
	touch $@
