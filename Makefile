# Two commands do everything on a fresh Debian machine: `make demo` and `make test`.
.PHONY: help demo test test-all asan tsan clang release bench packages build paper clean

help:  ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "  new here: make demo, then docs/tutorial.md"

JOBS ?= $(shell nproc)
# Most tests start processes that wait for each other, which count as two, and the longest sleep: four for each core keep the cores busy.
TESTS ?= $(shell expr 4 '*' $(JOBS))
# The rooms that read files and flags from outside: their tests also run under ASan and UBSan in `make test`.
SANITIZED = base model schedule verify show

packages:  ## install what Debian offers and the build uses
	@scripts/install-packages

build: packages  ## the programs, tests, benchmarks and the explorer's page, in build/dev
	cmake --preset dev
	@echo "with the explorer's page, the planner as WebAssembly: its line stands still for some minutes the first time"
	cmake --build --preset dev -j $(JOBS) --target explorer_page all

# Builds what it shows and no more: no tests, no benchmarks, no explorer. A tree that nobody has configured yet is built once, so its
# files are compiled together, past a ccache that knows none of them (CONTRIBUTING.md).
demo:  ## plan and check every collective, measure this machine; leaves report.html
	@echo "== 1 of 4: packages"
	@scripts/install-packages --small
	@echo "== 2 of 4: programs"
	@cmake --preset dev $$(test -f build/dev/CMakeCache.txt || echo -DCHASQUI_CCACHE=OFF) > /dev/null
	@cmake --build --preset dev -j $(JOBS) --target programs
	@scripts/demo build/dev/bin/chasqui

test: build  ## what CI runs
	scripts/run-tests dev -j $(TESTS)
	cmake --preset asan-quick
	cmake --build --preset asan-quick -j $(JOBS) --target $(SANITIZED:%=test_%) replay_schedule
	scripts/run-tests asan-quick -j $(TESTS) -R '^($(shell echo $(SANITIZED) fuzz_schedule | tr ' ' '|'))$$'

test-all: test asan tsan clang release bench  ## the whole suite under every sanitizer and compiler, and the benchmarks

asan: packages  ## all tests under ASan and UBSan
	cmake --preset asan
	cmake --build --preset asan -j $(JOBS)
	scripts/run-tests asan -j $(TESTS)

tsan: packages  ## all tests under TSan
	cmake --preset tsan
	cmake --build --preset tsan -j $(JOBS)
	scripts/run-tests tsan -j $(TESTS)

clang: packages  ## all tests with the other compiler
	cmake --preset clang
	cmake --build --preset clang -j $(JOBS)
	scripts/run-tests clang -j $(TESTS)

release: packages  ## all tests, fully optimised
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	scripts/run-tests release -j $(TESTS)

bench: packages  ## the benchmarks, fully optimised
	cmake --preset release
	cmake --build --preset release -j $(JOBS)
	for program in build/release/bin/bench_*; do case $$program in \
	  *bench_bsp*) "$$program" ;; \
	  *bench_group) build/release/bin/chasqui launch -n 2 "$$program" 0.05 ;; \
	  *bench_group_openmpi) mpirun.openmpi --allow-run-as-root --oversubscribe -n 2 "$$program" 0.05 ;; \
	  *bench_group_mpich) mpirun.mpich -n 2 "$$program" 0.05 ;; \
	  *) "$$program" --benchmark_min_time=0.05 ;; esac || exit 1; done

paper:  ## the theory pages as one document: build/paper.pdf
	@{ command -v chromium && fc-list : family | grep STIX; } > /dev/null || scripts/install-packages
	@mkdir -p build
	@scripts/paper build/paper.pdf

clean:  ## removes what was built
	rm -rf build report.html
