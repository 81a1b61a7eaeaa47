# The only door: `make` builds, `make test` proves, `make help` lists the rest.
.DEFAULT_GOAL := all
.PHONY: all library writable test bench bench-record bench-malloc peers programs fast-path tidy fuzz prove-compare prove-gate prove-kills install install-tcmalloc uninstall test-oracle test-glibc test-conformance test-storms test-faults test-redis test-debian clean help
.NOTPARALLEL:

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
FUZZTIME ?= 30s

# Both must work in a tree that git finds to be of dubious ownership.
GO := go
export GOFLAGS := $(GOFLAGS) -buildvcs=false
COMMIT := $(shell git -c safe.directory='*' rev-parse --short=12 HEAD 2>/dev/null)
# Without a home folder to write to, Go keeps its caches here.
ifneq ($(shell test -n "$$HOME" && test -w "$$HOME" && echo yes),yes)
export GOPATH ?= $(CURDIR)/build/go
export GOCACHE ?= $(CURDIR)/build/go-cache
export GOFLAGS += -modcacherw
endif
CMAKE_BUILD = env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL cmake --build
EMBEDDED := internal/launch/embedded
CALIBRATE := internal/calibrate/embedded/calibrate
METER := internal/measure/embedded/meter

# A word of the shell, whatever is in it: $(call quoted,TEXT).
quoted = '$(subst ','\'',$(1))'
absolute_prefix = $(if $(filter /%,$(firstword $(PREFIX))),$(PREFIX),$(error PREFIX must be an absolute path, and is '$(PREFIX)'))
# Whatever the umask: folders are for everybody to read, as CMake makes the files in them.
install_component = umask 022 && DESTDIR=$(call quoted,$(DESTDIR)) cmake --install build/release --prefix $(call quoted,$(absolute_prefix)) --component $(1)

# Runs the long tests of a label and keeps their table beside them: $(call long,LABEL,PRESET,FILE,JOBS).
long = $(GO) run ./tools/suite -j $(4) -only $(1) && { $(call put,build/$(2)/results/$(1).md,test/$(3)); }

# Replaces a file at once and only when it differs: a running program may have the old one mapped.
put = cmp -s $(1) $(2) || { cp $(1) $(2).new && mv -f $(2).new $(2); }

# Without cgo; the two tags say so to the tests as well, which have it, and then share what is compiled here.
all: library ## Build build/mallow, build/libmallow.so and build/libmallow.a
	@mkdir -p $(EMBEDDED)
	@$(call put,build/libmallow.so,$(EMBEDDED)/libmallow.so)
	@$(call put,build/release/calibrate/calibrate,$(CALIBRATE))
	@$(call put,build/release/meter/meter,$(METER))
	CGO_ENABLED=0 $(GO) build -trimpath -tags embed,netgo,osusergo -ldflags '-s -w -E mallow_entry -X mallow/internal/launch.commit=$(COMMIT)' -o build/mallow ./cmd/mallow
	@build/mallow help --man >build/mallow.1.new && mv -f build/mallow.1.new build/mallow.1

library: writable build/release/Makefile
	$(CMAKE_BUILD) build/release -j$(JOBS) --target libraries calibrate meter
	@$(call put,build/release/libmallow/libmallow.so,build/libmallow.so)
	@$(call put,build/release/libmallow/libmallow.a,build/libmallow.a)

# Somebody else's tree is for them to build; found out before anything runs that would end in the middle.
writable:
	@mkdir -p build 2>/dev/null && test -w build || { echo "mallow: $(CURDIR)/build cannot be written: build as a user who may" >&2; exit 1; }

# Without the tests, which need more packages; `make test` adds them to the same folder.
build/release/Makefile: CMakeLists.txt CMakePresets.json libmallow/CMakeLists.txt calibrate/CMakeLists.txt meter/CMakeLists.txt packaging/CMakeLists.txt
	@tools/setup.sh build
	cmake --preset release -DMALLOW_TESTS=OFF
	@touch $@

test: ## Run everything that must hold before a change lands (under 20 minutes on 2 cores)
	@tools/setup.sh test
	@$(MAKE) all
	@$(GO) run ./tools/suite -j $(JOBS)

bench-record: all ## Measure what recording costs, and print the table
	@tools/setup.sh bench || true
	@bench/run

bench: bench-record bench-malloc ## Both measurements: more than an hour

fast-path: build/release/Makefile ## Write down anew what the hit paths execute (after a change of them)
	cmake --preset release -DMALLOW_TESTS=ON
	$(CMAKE_BUILD) build/release -j$(JOBS) --target mallow_shared mallow_minimal_shared program_single_step
	$(GO) test -count=1 ./test/fast_path -update

bench-malloc: all peers ## Measure libmallow against other mallocs, and draw the plots
	@bench/run -malloc

programs: all ## Record 50 programs of Debian, and write docs/programs.md (long; installs packages as root)
	@bench/run -only programs -install

peers: ## Fetch and build the mallocs to compare with, into build/peers
	@tools/setup.sh bench || true
	@bench/peers/build.sh

tidy: ## Check formatting, layers, words and scripts
	@$(GO) run ./tools/tidy

fuzz: all ## Fuzz the allocator (FUZZ_SECONDS=30 a container), and every reader (FUZZTIME=30s each)
	@$(call long,fuzz,dev,fuzz/RESULTS.md,$(JOBS))
	@tools/fuzz.sh $(FUZZTIME) build/readers.md && { $(call put,build/readers.md,test/fuzz/READERS.md); }

test-oracle: all ## Compare every capture with the oracle, in full (long)
	@tools/setup.sh oracle
	@$(GO) run ./tools/suite -j $(JOBS) -only oracle

test-glibc: all ## Run glibc's own malloc tests on libmallow (long)
	@$(call long,glibc,release,conformance/RESULTS.md,$(JOBS))

test-conformance: all ## Run our conformance suite on every malloc that is installed (long)
	@$(call long,peers,release,conformance/PEERS.md,$(JOBS))

test-storms: all ## Fork and end threads under load, by the thousand (long)
	@$(call long,storms,release,storms/RESULTS.md,1)

test-faults: all ## Fail each system call of libmallow under real programs (long)
	@$(call long,faults,release,faults/RESULTS.md,1)

test-redis: all ## Build Debian's redis on our tcmalloc names and run its test suite (long)
	@$(call long,redis,release,install/REDIS.md,1)

test-debian: ## Run both commands of the README in a Debian 12, or SUITE=trixie, that has nothing else (long; root, debootstrap)
	@tools/debian.sh

prove-compare: all ## Compare real programs with themselves a hundred times, and with 3 % more CPU time (ten minutes)
	MALLOW_COMPARE_PROOF=$(CURDIR)/bench/results/compare.md $(GO) test -count=1 -timeout 3h -run TestProof -v ./test/compare

prove-gate: all ## Gate programs that are deterministic, or nearly so, 50 times each, and with one more allocation (ten minutes)
	MALLOW_GATE_PROOF=$(CURDIR)/bench/results/gate.md $(GO) test -count=1 -timeout 3h -run TestProof -v ./test/gate

prove-kills: all ## End recorded programs by kill -9 at a thousand random moments (ten minutes)
	MALLOW_KILLS=1000 MALLOW_KILL_PROOF=$(CURDIR)/bench/results/kills.md $(GO) test -count=1 -timeout 3h -run 'Lost' ./test/kill
	MALLOW_KILLS=1000 $(GO) test -count=1 -timeout 3h -run TestKill ./test/log

install: all ## Install below PREFIX (default /usr/local, no root needed for one of yours); DESTDIR is put before it
	$(call install_component,mallow)

install-tcmalloc: all ## Install also under tcmalloc's names: libtcmalloc.so, gperftools/tcmalloc.h (opt-in)
	$(call install_component,tcmalloc)

uninstall: ## Remove what both have installed below PREFIX
	DESTDIR=$(call quoted,$(DESTDIR)) packaging/uninstall.sh build/release $(call quoted,$(absolute_prefix))

clean: ## Remove what was built
	rm -rf build $(EMBEDDED) $(CALIBRATE) $(METER)

help: ## List these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 26
