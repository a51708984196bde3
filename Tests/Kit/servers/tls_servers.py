"""Servers with a good certificate and with several bad ones."""
from Kit.servers.certificates import ELSEWHERE, Authority
from Kit.servers.nginx import fresh
from Kit.sending import AT_ONCE


class Trust:
    """An authority, and a server that has a good certificate and one for each kind of fault."""

    def __init__(self, bench):
        folder = bench.folder / f"trust{next(bench.numbers)}"
        self.authority = Authority(folder / "ours")
        stranger = Authority(folder / "strange", "stranger")
        self.pairs = {"good": self.authority.server(), "expired": self.authority.server(days=-3, label="expired"),
                      "host": self.authority.server(ELSEWHERE, label="host"), "unknown": stranger.server(),
                      "clients": self.authority.server(label="clients")}
        self.options = ("--ca", self.authority.path, "--retry", AT_ONCE)

    def server(self, bench, **options):
        return fresh(bench, tls=self.pairs, clients=self.authority.path, **options)
