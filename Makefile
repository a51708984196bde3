# `make demo` shows the tools at work, and `make test` runs everything that CI runs. Both install what they need.

.PHONY: help build test demo install bench faults fuzz model differential sending spark-check docs-check library-check format lint vectors sample clean

PREFIX = /usr/local
SEQUENCES = 10000
CASES = 100000
SECONDS = 60
TOOLS = .build/release/capbundle .build/release/capqueue

help:
	@echo "make demo     build, pack the sample, detect one changed byte, send the bundle from a queue to a server"
	@echo "make test     run everything that CI runs"
	@echo "make build    build capbundle, capqueue and capbundle-decode in .build/release"
	@echo "make install  install them, man pages, completions, systemd units, cron scripts below PREFIX ($(PREFIX)); DESTDIR for packages"
	@echo "make bench    compare with scripts, bagit.py, openssl, curl, rclone, in .build/bench.txt; ONLY=word for some"
	@echo "make faults   kill the queue at each system call;  make model  SEQUENCES ($(SEQUENCES)) of random commands and kills"
	@echo "make differential  both implementations judge CASES ($(CASES)) damaged bundles and upload bodies"
	@echo "make fuzz     give each parser random inputs for SECONDS ($(SECONDS)), with limits on time and memory; ONLY=word for some"
	@echo "make sending  send to real servers over broken connections, with crashes"
	@echo "make browsers verify.html in Chromium and Firefox ESR;  make page  put its modules into Samples/verify.html again"
	@echo "make receiver  build Samples/Receiver and serve FOLDER ($(FOLDER)) on PORT ($(PORT));  make receiver-check  test it"
	@echo "make docs-check   run the sessions that the documents show; check man pages and completions"
	@echo "make spark-check  run the samples for large archives: Spark, GNU parallel"
	@echo "make library-check  build and run Samples/library, a package that uses the libraries"
	@echo "make format   format the Swift code;  make lint  check it"
	@echo "make vectors  write Spec/Vectors again and check that every rule has a vector"
	@echo "make sample   make the bundles of Samples again: desk-lamp (with a temporary key) and its forgeries"

build:
	@.ci/dependencies build
	@echo "== building for release"
	@.ci/build

test:
	@.ci/test

demo: build
	@.ci/dependencies demo
	@Samples/demo.sh $(TOOLS)

install:
	@.ci/install $(TOOLS) $(PREFIX) $(DESTDIR)

bench: build
	@.ci/dependencies bench
	@.ci/build Tests/QueueBench .build-bench
	@.ci/build Samples/Receiver .build-receiver
	@python=$$(.ci/environment Bench) && $$python Tests/Bench/run.py .build/release/capbundle $(if $(ONLY),--only "$(ONLY)")

.PHONY: page browsers
page:
	python3 Spec/Browser/build.py

# CI runs Chromium only.
browsers: build
	@.ci/dependencies browsers
	@python=$$(.ci/environment Pages) && $$python Tests/Browser/run.py .build/release/capbundle && \
		$$python Tests/Browser/run.py .build/release/capbundle --firefox

# The sample receiver is a package of its own, which takes some minutes to build. Its pages need capbundle-decode.
.PHONY: receiver receiver-check
FOLDER = captures
PORT = 8080
HOST = 127.0.0.1
receiver: build
	@.ci/build Samples/Receiver .build-receiver
	@.build-receiver/release/receiver serve $(FOLDER) --host $(HOST) --port $(PORT) $(if $(PUBLIC_URL),--public-url $(PUBLIC_URL))

receiver-check: build
	@.ci/dependencies test
	@.ci/build Samples/Receiver .build-receiver
	@promtool=$$(.ci/promtool) && python=$$(.ci/environment Receiver) && \
		PATH=$$PATH:$$promtool $$python Tests/Receiver/run.py $(TOOLS) .build-receiver/release/receiver

docs-check: build
	@.ci/dependencies docs
	python3 Tests/Documents/examples.py
	python3 Tests/Documents/library.py
	python3 Tests/Documents/faults.py
	@.ci/build Samples/Receiver .build-receiver
	/usr/bin/python3 Tests/Documents/run.py $(TOOLS) .build-receiver/release/receiver
	python3 Tests/Documents/installed.py $(TOOLS)

library-check: build
	@.ci/dependencies demo
	/usr/bin/python3 Tests/Library/run.py .build/release/capbundle

spark-check: build
	@.ci/dependencies spark
	@python=$$(.ci/environment Spark) && $$python Tests/Spark/check.py .build/release/capbundle

format:
	swift format format --in-place --recursive Package.swift Sources Tests Samples

lint:
	swift format lint --strict --recursive Package.swift Sources Tests Samples

# CI runs short forms of faults and model. The long form of faults takes a quarter of an hour. SEQUENCES sets the length
# of model.
faults: build
	@.ci/dependencies test
	@promtool=$$(.ci/promtool) && PATH=$$PATH:$$promtool /usr/bin/python3 Tests/QueueFaults/run.py --every .build/release/capqueue .build/release/capbundle

model: build
	@.ci/dependencies test
	/usr/bin/python3 Tests/QueueModel/run.py .build/release/capqueue .build/release/capbundle --sequences $(SEQUENCES)

differential: build
	@.ci/dependencies test
	/usr/bin/python3 Tests/Differential/run.py .build/release/capbundle --cases $(CASES)

fuzz:
	@.ci/dependencies build
	Tests/Fuzz/run.py --seconds $(SECONDS) $(if $(ONLY),--only "$(ONLY)")

sending: build
	@.ci/dependencies test
	@python=$$(.ci/environment Sending) && $$python Tests/Sending/run.py .build/release/capqueue .build/release/capbundle

vectors:
	@.ci/dependencies test
	python=$$(.ci/environment Judges) && $$python Spec/Generator/generate.py && $$python Spec/Generator/check_coverage.py

sample: build
	@Samples/desk-lamp/pack.sh .build/release/capbundle
	@/usr/bin/python3 Samples/tampered/make.py

clean:
	rm -rf .build .build-bench .build-fuzz .build-receiver
