"""The service in a booted Debian 12: its units, what they mail, and what Prometheus gets through the node exporter. One guest
for all tests."""
import contextlib

from Service.bench import ServiceBench

PROGRAMS = ("capbundle", "capqueue")


@contextlib.contextmanager
def bench(options, folder):
    with contextlib.closing(ServiceBench(options, folder)) as made:
        yield made
