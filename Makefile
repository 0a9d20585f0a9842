# Two commands do everything on a fresh Debian machine: `make demo` and `make test`.
.PHONY: demo test test-all packages build clean

packages:  ## install what Debian offers and the build uses
	@scripts/install-packages

build: packages
	cmake --preset dev
	cmake --build --preset dev

demo: build

test: build
	ctest --preset dev -j2

clean:
	rm -rf build
