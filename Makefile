# `make demo` shows the tools at work, and `make test` tests them. Both install what they need.

.PHONY: help build test test-all demo install uninstall docs deb deb-check release bench fuzz receiver page vectors sample format lint clean

PREFIX = /usr/local
SECONDS = 30
TOOLS = .build/release/capbundle .build/release/capqueue
CHOICE = $(if $(ONLY),--only "$(ONLY)") $(if $(FIRST),--first) $(if $(RESUME),--resume)

help:
	@echo "make demo      build, pack the sample, detect one changed byte, send the bundle from a queue to a server"
	@echo "make test      test everything that README and Spec promise, in a quarter of an hour or less; FIRST=1 stops at the first failure"
	@echo "make test-all  every test, with release builds, fuzzing, browsers, the receiver and benches: some hours;"
	@echo "               ONLY=word for the stages with this word, RESUME=1 without those that passed on this tree, SECONDS ($(SECONDS))"
	@echo "               for each fuzz target"
	@echo "make build     build capbundle, capqueue and capbundle-decode in .build/release"
	@echo "make install   install them, man pages, completions, systemd units, cron scripts below PREFIX ($(PREFIX)); DESTDIR for packages"
	@echo "make uninstall remove what make install wrote below PREFIX; queues, keys and settings stay"
	@echo "make docs      make the API pages and the guides in .build/docs, for any server of static files below the path BASE (/)"
	@echo "make deb       build Debian packages, their SBOM and SHA256SUMS in .build/packages; signed if MINISIGN_KEY names a key"
	@echo "make deb-check install, use, upgrade and purge them in Debian bookworm and trixie; root only"
	@echo "make release   in a clean clone: check version and changelog, test everything, build packages and checksums, tag"
	@echo "make bench     compare with scripts, openssl, curl, rclone, SQLite and others, in .build/bench.txt;"
	@echo "               at most 25 minutes; ONLY=word for some measures"
	@echo "make fuzz      give each parser random inputs for SECONDS ($(SECONDS)), with limits on time and memory; ONLY=word for some"
	@echo "make receiver  build Samples/Receiver and serve FOLDER ($(FOLDER)) on PORT ($(PORT))"
	@echo "make page      put the modules of Spec/Browser into Samples/verify.html again"
	@echo "make vectors   write Spec/Vectors again and check that every rule has a vector"
	@echo "make sample    make the bundles of Samples again: desk-lamp (with a temporary key) and its forgeries"
	@echo "make format    format the Swift code;  make lint  check it"

build:
	@.ci/dependencies build
	@echo "== building for release"
	@.ci/build

test:
	@exec .ci/test $(CHOICE)

test-all:
	@SECONDS=$(SECONDS) exec .ci/test --all $(CHOICE)

demo: build
	@.ci/dependencies demo
	@Samples/demo.sh $(TOOLS)

install:
	@.ci/install $(TOOLS) $(PREFIX) $(DESTDIR)

uninstall:
	@.ci/uninstall $(PREFIX) $(DESTDIR)

docs:
	@.ci/dependencies build
	@.ci/docs $(BASE)

deb: build
	@.ci/dependencies packages
	@.ci/build Samples/Receiver .build-receiver
	@rm -rf .build/packages
	@.ci/packages/build.py .build/packages

deb-check: deb
	@python=$$(.ci/environment) && CAPTURE_TESTS=all $$python Tests/run.py Packages

# In a clean clone. RESUME=1 leaves out the stages that passed on exactly this tree.
release:
	@[ -z "$(ONLY)" ] || { echo "make release tests everything, so it takes no ONLY" >&2; exit 64; }
	@.ci/release check
	@$(MAKE) test-all
	@$(MAKE) deb
	@.ci/release tag

bench: build
	@.ci/dependencies bench
	@CAPQUEUE_BENCH=1 .ci/build . .build-bench capqueue-bench
	@.ci/build Samples/Receiver .build-receiver
	@python=$$(.ci/environment Bench) && $$python Tests/run.py Bench .build/release/capbundle $(if $(ONLY),--only "$(ONLY)")

fuzz:
	@.ci/dependencies build
	Tests/Fuzz/run.py --seconds $(SECONDS) $(if $(ONLY),--only "$(ONLY)")

# The sample receiver is a package of its own, which takes some minutes to build. Its pages need capbundle-decode.
FOLDER = captures
PORT = 8080
HOST = 127.0.0.1
receiver: build
	@.ci/build Samples/Receiver .build-receiver
	@.build-receiver/release/receiver serve $(FOLDER) --host $(HOST) --port $(PORT) $(if $(PUBLIC_URL),--public-url $(PUBLIC_URL))

page:
	python3 Spec/Browser/build.py

vectors:
	@.ci/dependencies test
	python=$$(.ci/environment) && $$python Spec/Generator/generate.py && $$python Spec/Generator/check_coverage.py

sample: build
	@Samples/desk-lamp/pack.sh .build/release/capbundle
	@/usr/bin/python3 Samples/tampered/make.py

format:
	swift format format --in-place --recursive Package.swift Sources Tests Samples

lint:
	swift format lint --strict --recursive Package.swift Sources Tests Samples

clean:
	rm -rf .build .build-api .build-bench .build-fuzz .build-receiver .build-phone .build-tsan
