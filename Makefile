# dperm, built by PGXS:
#
#   make && sudo make install        into the PostgreSQL that pg_config names
#   make installcheck                SQL tests, against your running server
#   make unit stats fuzz             tests of src/core, no server needed
#   make tap                         tests that start servers of their own
#   make bench                       docs/benchmarks.md, measured on this machine: an hour
#   make citus                       tests and a benchmark on a Citus cluster; PG_CONFIG names a PostgreSQL that has Citus
#   make audit                       the privacy audit, with planted faults: docs/audit.md
#   make mutants                     do the tests find faults? test/mutants/README.md: hours
#
# script/test runs all of it in a temporary cluster.

EXTENSION = dperm
EXTVERSION = 0.3.0
MODULE_big = dperm

# Sources are found from this file, so that a build in another directory works:
# make -f /path/to/dperm/Makefile
here := $(patsubst %/,%,$(dir $(firstword $(MAKEFILE_LIST))))
# PGXS sets VPATH by itself only if PostgreSQL was built with one.
ifneq ($(realpath $(here)),$(CURDIR))
VPATH = $(here)
endif
sources = $(patsubst $(here)/%,%,$(sort $(wildcard $(here)/$(1))))

# The PostgreSQL side, from the top down: a room includes those that follow it.
ROOMS = entry train query protect budget relation column base
PG_OBJS := $(patsubst %.c,%.o,$(foreach room,$(ROOMS),$(call sources,src/$(room)/*.c)))
CORE_OBJS := $(patsubst %.c,%.o,$(call sources,src/core/*/*.c))
ALL_HEADERS := $(wildcard $(here)/src/*/*.h $(here)/src/core/*/*.h)
# BLAS is loaded when it is needed, as a library of its own: to load it takes longer than to train on a small table, or to predict.
BLAS = dperm_blas
BLAS_TABLE = src/core/base/blas.o
BLAS_OBJS = src/blas/dperm_blas.o $(BLAS_TABLE)
OBJS = $(PG_OBJS) $(filter-out $(BLAS_TABLE),$(CORE_OBJS))

SQL_INSTALL = sql/$(EXTENSION)--$(EXTVERSION).sql
DATA_built = $(SQL_INSTALL)

# The rounding bounds of the release stage hold for IEEE arithmetic as written.
FP_CFLAGS = -ffp-contract=off -fno-fast-math
PG_CFLAGS = -Wall -Wextra $(FP_CFLAGS)
PG_CPPFLAGS = -I$(here)/src -DDPERM_VERSION='"$(EXTVERSION)"'
LINALG = -llapack -lblas -lm
# Symbols of ours are bound when it is linked, not by each process that loads it.
SHLIB_LINK = -lm $(if $(filter darwin win32,$(PORTNAME)),,-Wl,-Bsymbolic)

# JIT bitcode would need the very clang that built the server, for functions that
# are not worth inlining.
override with_llvm = no

REGRESS = install arguments before labels model logreg foreign svm reference domains ranges knots knots_rule knots_vectors scales columns rows altered kernels aggregate releases large_values passes classes_passes modes cores solver tagged steady hostile privileges noise tuning evaluate summary cost delta compose persons prior linreg classes classes_eval protect protect_again closed ledger administration grants calls_left protect_attacks callees view_rows mistakes first_day second_day explain report new_in_19
# Tests are under test/, and what they are expected to write is in expected/.
# pg_regress finds expected/ in the directory where it runs, but the isolation
# tests only in that of their output. VPATH builds have a link to it.
REGRESS_OPTS = --inputdir=$(here)/test
ISOLATION = $(patsubst test/specs/%.spec,%,$(call sources,test/specs/*.spec))
ISOLATION_OPTS = --inputdir=$(here)/test --outputdir=.

EXTRA_CLEAN = build $(BLAS)$(DLSUFFIX) $(BLAS_OBJS)

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# Libraries that only tests load, from where they are built.
TEST_MODULES := $(patsubst test/%.c,build/%$(DLSUFFIX),$(call sources,test/modules/*.c))

# PostgreSQL's own headers and macros do not pass -Wextra; src/core has to.
$(PG_OBJS) src/blas/dperm_blas.o $(TEST_MODULES): override CFLAGS += -Wno-unused-parameter -Wno-sign-compare -Wno-missing-field-initializers
# A server built by gcc hands on flags that clang does not know, and would warn of.
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null | head -n 1)),)
$(OBJS) $(BLAS_OBJS) $(TEST_MODULES): override CFLAGS += -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-ignored-attributes
endif
# Its loops over numbers are worth vectors, and nobody outside calls it.
$(CORE_OBJS): override CFLAGS += -O3 -fvisibility=hidden
$(OBJS) $(BLAS_OBJS): $(ALL_HEADERS)

all: $(BLAS)$(DLSUFFIX)
$(BLAS)$(DLSUFFIX): $(BLAS_OBJS)
	$(CC) $(CFLAGS) $^ $(LDFLAGS) $(LDFLAGS_SL) $(if $(filter darwin,$(PORTNAME)),-bundle $(BE_DLLLIBS),-shared) $(LINALG) $(BLAS_LINK) -o $@

.PHONY: install-blas uninstall-blas
install: install-blas
install-blas: $(BLAS)$(DLSUFFIX) installdirs
	$(INSTALL_SHLIB) $< '$(DESTDIR)$(pkglibdir)/$(BLAS)$(DLSUFFIX)'
uninstall: uninstall-blas
uninstall-blas:
	rm -f '$(DESTDIR)$(pkglibdir)/$(BLAS)$(DLSUFFIX)'

ifdef VPATH
$(shell mkdir -p sql src/blas $(sort $(dir $(PG_OBJS) $(CORE_OBJS))))
$(shell [ -e expected ] || ln -s $(abspath $(here))/expected)
endif

# The install script: its parts in order, those that others need first.
SQL_PARTS = 00_start 10_model 20_domains 30_prediction \
	40_internal_passes 41_internal_rows 42_internal_aggregates \
	50_training 51_tuning 52_aggregates 53_composition 60_evaluation 61_summary 70_internal_budgets 71_budgets 80_internal_registry 81_protection 82_internal_protection 83_internal_administration 90_report 99_internal_guards

$(SQL_INSTALL): $(SQL_PARTS:%=$(here)/sql/parts/%.sql) $(firstword $(MAKEFILE_LIST))
	for part in $(SQL_PARTS); do cat $(here)/sql/parts/$$part.sql && echo || exit 1; done >$@

# Tests of the core: one program per file, each linked with all of src/core, and with a host for it.
TEST_HOST = $(here)/test/host.c $(here)/test/tree.c

TEST_CFLAGS = -std=gnu11 -g -Wall -Wextra -Wno-missing-field-initializers $(FP_CFLAGS) $(COPT) \
	-I$(here)/src -I$(here)/test -DTEST_CORPUS='"$(here)/test/corpus"'
SANITIZE = -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
TEST_HEADERS := $(ALL_HEADERS) $(wildcard $(here)/test/*.h $(here)/test/*/*.h)

UNIT := $(patsubst test/%.c,build/%,$(call sources,test/unit/test_*.c))
STATS := $(patsubst test/%.c,build/%,$(call sources,test/stats/*.c))
AUDIT := $(patsubst test/%.c,build/%,$(call sources,test/audit/*.c))
FUZZ_TARGETS := $(patsubst test/%.c,build/%,$(call sources,test/fuzz/fuzz_*.c))

build/sanitized/%.o: $(here)/src/core/%.c $(ALL_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -c $< -o $@

build/optimised/%.o: $(here)/src/core/%.c $(ALL_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -O2 -c $< -o $@

build/unit/%: $(here)/test/unit/%.c $(TEST_HOST) $(CORE_OBJS:src/core/%=build/sanitized/%) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) $(filter %.c %.o,$^) $(LINALG) -o $@

$(STATS) $(AUDIT): build/%: $(here)/test/%.c $(TEST_HOST) $(CORE_OBJS:src/core/%=build/optimised/%) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -O2 $(filter %.c %.o,$^) $(LINALG) -o $@

# A fuzz target has LLVMFuzzerTestOneInput. standalone.c brings a main() for any
# compiler; make fuzz CC=clang FUZZ=libfuzzer uses the real engine instead.
FUZZ ?= standalone
FUZZ_SECONDS ?= 5
ifeq ($(FUZZ),libfuzzer)
fuzz_engine = -fsanitize=fuzzer
else
fuzz_engine = $(here)/test/fuzz/standalone.c
endif

build/fuzz/%: $(here)/test/fuzz/%.c $(TEST_HOST) $(CORE_OBJS:src/core/%=build/sanitized/%) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) -DTEST_OWN_MAIN $(TEST_CFLAGS) $(SANITIZE) $(filter %.c %.o,$^) $(fuzz_engine) $(LINALG) -o $@

# $(call run_each,programs,arguments): runs all of them, several at a time, and
# shows the output of those that fail. What the core allocates, its
# host frees; the leak check is slow, and containers often forbid it. EMULATOR runs programs of another
# architecture.
JOBS ?= $(shell nproc 2>/dev/null || echo 1)
run_each = @printf '%s\n' $(1) | OPENBLAS_NUM_THREADS=1 \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	xargs -r -P $(JOBS) -I{} sh -c \
	'if $(EMULATOR) {} $(2) >{}.log 2>&1; then echo "ok - {}"; else cat {}.log; echo "not ok - {}"; exit 1; fi'

.PHONY: unit stats audit audit-programs mutants fuzz tap bench citus lint dist
unit: $(UNIT)
	$(call run_each,$(UNIT))

# proof reads what a server trained; the others need none. The longest is first,
# so that no core waits for it at the end.
stats: $(STATS) $(AUDIT)
	$(call run_each,build/audit/tuning $(STATS) $(filter-out build/audit/proof build/audit/tuning,$(AUDIT)))

audit-programs: $(AUDIT)

# A cluster and builds of its own; writes the table in docs/audit.md.
audit:
	$(here)/test/audit/run

mutants:
	$(here)/test/mutants/run $(MUTANTS)

# Same arguments for both engines. Findings and new inputs stay under build/.
fuzz: $(FUZZ_TARGETS)
	@mkdir -p $(FUZZ_TARGETS:=.corpus)
	$(call run_each,$(FUZZ_TARGETS),-max_total_time=$(FUZZ_SECONDS) -artifact_prefix={}- {}.corpus $(wildcard $(here)/test/fuzz/corpus))

$(TEST_MODULES): build/%$(DLSUFFIX): $(here)/test/%.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(CFLAGS_SL) $(CPPFLAGS) $< \
		$(LDFLAGS) $(LDFLAGS_SL) $(if $(filter darwin,$(PORTNAME)),-bundle $(BE_DLLLIBS),-shared) -o $@

# Our own copy of prove_installcheck: that one wants t/ at the top and a server
# configured with --enable-tap-tests. PostgreSQL 16 renamed TESTDIR.
TAP_DIR = $(CURDIR)/build/tap
tap: $(TEST_MODULES)
	rm -rf $(TAP_DIR)
	mkdir -p $(TAP_DIR)/log $(TAP_DIR)/tmp_check
	cd $(here) && PATH="$(bindir):$$PATH" PG_REGRESS='$(top_builddir)/src/test/regress/pg_regress' \
	TEST_MODULES='$(CURDIR)/build/modules' DLSUFFIX='$(DLSUFFIX)' \
	TESTDIR='$(TAP_DIR)' TESTLOGDIR='$(TAP_DIR)/log' TESTDATADIR='$(TAP_DIR)/tmp_check' \
	prove -I $(top_builddir)/src/test/perl $(PROVE_FLAGS) $(if $(PROVE_TESTS),$(PROVE_TESTS),test/t/*.pl)

# In a temporary cluster; make bench BENCH_FLAGS=--help says what can be chosen.
bench:
	$(here)/test/bench/run $(BENCH_FLAGS)

# A cluster of three servers on this machine, if this PostgreSQL has Citus. CITUS_FLAGS: --tests or --bench.
citus:
	PG_CONFIG='$(PG_CONFIG)' $(here)/test/citus/run $(CITUS_FLAGS)

# What a forgetful author breaks: a test or a part of the SQL that no list names, versions that differ, names that do not
# tell where they are.
# The rooms that script/check-sources looks at: names, arrows between rooms, headers that compile by themselves.
CHECKED_DIRS = $(ROOMS:%=src/%) src/core/base src/core/encode src/core/loss src/core/solve src/core/mechanism src/core/privacy src/core/metrics src/core/model
# Pages whose figures are of this version, and say so; script/check-figures reads them.
MEASURED = README.md docs/audit.md docs/experiments.md docs/benchmarks.md docs/distributed.md
SQL_TESTS := $(patsubst test/sql/%.sql,%,$(call sources,test/sql/*.sql))
lint:
	@for t in $(filter-out $(REGRESS),$(SQL_TESTS)); do \
		echo "not ok - $$t is not in REGRESS"; exit 1; done
	@for t in $(REGRESS:%=test/sql/%.sql) $(patsubst %,expected/%.out,$(REGRESS) $(ISOLATION)); do \
		test -e $(here)/$$t || { echo "not ok - no $$t"; exit 1; }; done
	@for p in $(filter-out $(SQL_PARTS:%=sql/parts/%.sql),$(call sources,sql/parts/*)); do \
		echo "not ok - $$p is not in SQL_PARTS"; exit 1; done
	@ROOMS='$(ROOMS)' COMPILE='$(CC) $(CPPFLAGS) -Wall -Werror' $(here)/script/check-sources $(here) $(CHECKED_DIRS)
	@cd $(here) && oldest=$$(sed -n 's/^oldest=//p' script/lib.sh) && newest=$$(sed -n 's/^newest=//p' script/lib.sh) && \
		{ grep -q '"PostgreSQL": "'$$oldest'\.0\.0"' META.json && grep -qx $$oldest+ debian/pgversions && \
		grep -q "postgres: \[$$(seq -s ', ' $$oldest $$newest)\]" .github/workflows/ci.yml && \
		for f in README.md CHANGELOG.md CONTRIBUTING.md docs/operations.md script/matrix; do \
			grep -q "PostgreSQL $$oldest to $$newest" $$f || exit 1; done; } || \
		{ echo "not ok - documents, CI and packages name other versions of PostgreSQL than script/lib.sh"; exit 1; }
	@grep -q "^default_version = '$(EXTVERSION)'" $(here)/dperm.control || \
		{ echo "not ok - dperm.control is not of version $(EXTVERSION)"; exit 1; }
	@perl -MJSON::PP -0777 -ne 'decode_json($$_)' $(here)/META.json
	@test "$$(grep -c '"version": "$(EXTVERSION)"' $(here)/META.json)" = 2 || \
		{ echo "not ok - META.json is not of version $(EXTVERSION)"; exit 1; }
	@grep -q '^postgresql-dperm ($(EXTVERSION)-' $(here)/debian/changelog || \
		{ echo "not ok - debian/changelog has no version $(EXTVERSION)"; exit 1; }
	@for f in $(here)/.ci/run $(here)/script/lib.sh $(here)/script/test $(here)/script/demo $(here)/script/bare.sh $(here)/script/matrix $(here)/script/package $(here)/script/measured $(here)/test/bench/run \
		$(here)/test/audit/blackbox $(here)/test/audit/run $(here)/test/audit/short $(here)/test/mutants/run; do bash -n $$f || exit 1; done
	@perl -c $(here)/script/check-readme
	@$(here)/script/check-names $(here)
	@$(here)/script/check-errors $(here) $(shell $(PG_CONFIG) --includedir-server)/utils/errcodes.h
	@$(here)/script/check-figures $(here) $(MEASURED)
	@! command -v python3 >/dev/null || python3 -c 'import sys; [compile(open(f).read(), f, "exec") for f in sys.argv[1:]]' \
		$(wildcard $(here)/test/*/*.py $(here)/docs/examples/*.py) $(here)/test/bench/compare $(here)/test/compare/run $(here)/test/export/check
	@$(here)/test/audit/plant --check $(here)
	@$(here)/test/audit/plant --faults $(here)/test/mutants/faults --check $(here)

# The archive for PGXN.
dist:
	@mkdir -p build
	git -C $(here) archive --format zip --prefix=$(EXTENSION)-$(EXTVERSION)/ \
		--output $(CURDIR)/build/$(EXTENSION)-$(EXTVERSION).zip HEAD
