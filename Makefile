# `make demo` shows what the tool does, `make test` is everything that CI runs. Both install what they need.

.PHONY: help build test demo format lint vectors sample clean

help:
	@echo "make demo     build, pack the sample, verify it, change one byte and see it found"
	@echo "make test     everything that CI runs"
	@echo "make build    the release build: .build/release/capbundle"
	@echo "make format   format the Swift code;  make lint  check it"
	@echo "make vectors  write Spec/Vectors anew and check that every rule has one"
	@echo "make sample   pack Samples/desk-lamp anew (its key is made for it and thrown away)"

build:
	@.ci/dependencies build
	@echo "== building for release"
	swift build -c release --product capbundle

test:
	@.ci/test

demo: build
	@Samples/demo.sh .build/release/capbundle

format:
	swift format format --in-place --recursive Package.swift Sources Tests

lint:
	swift format lint --strict --recursive Package.swift Sources Tests

vectors:
	@.ci/dependencies test
	python=$$(.ci/judges) && $$python Spec/Generator/generate.py && $$python Spec/Generator/check_coverage.py

sample: build
	@Samples/desk-lamp/pack.sh .build/release/capbundle

clean:
	rm -rf .build
