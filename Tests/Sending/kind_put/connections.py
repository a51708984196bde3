"""put: IPv6, HTTP/2 with several transfers at once, and proxies."""
from Kit.outcomes import Skipped, every, expect
from Kit.sending import completed
from Kit.servers.certificates import Authority
from Kit.servers.nginx import fresh, has_ipv6
from Kit.servers.raw_server import Bare, answer, received
from Kit.servers.scripted import Tunnel
from Sending.answers.tries import is_left, sent, some


def ipv6(bench):
    if not has_ipv6():
        raise Skipped("this machine has no ::1")
    with fresh(bench) as server:
        rig = sent(bench, "put", server.template().replace("127.0.0.1", "[::1]"), code=0)
        server.keeps(bench.stock[0])
        expect(all(one["host"].startswith("[::1]:") for one in server.log()), "it did not go over IPv6")
    expect("[::1]" in rig.receipt(bench.stock[0])["url"], "the receipt has another URL")


def http2(bench):
    """With TLS the tool uses HTTP/2 if the server supports it, also for four transfers at once."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    with fresh(bench, tls={"good": authority.server()}) as server:
        url = f"{server.secure('good')}/store/{{sha256}}.bundle"
        rig = sent(bench, "put", url, "--ca", authority.path, "--concurrency", "4", bundles=bench.stock[:8], code=0)
        completed(rig, *bench.stock[:8])
        server.keeps(*bench.stock[:8])
        spoken = {one["protocol"] for one in server.logged(16)}
        expect(spoken == {"HTTP/2.0"}, f"spoken was {spoken}")


def proxies(bench):
    """With --proxy or the usual variables http goes to the proxy, and https through a tunnel in it."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    with fresh(bench, tls={"good": authority.server()}) as server, Tunnel() as tunnel:
        secure = f"{server.secure('good')}/store/{{sha256}}.bundle"
        cases = {"--proxy, https": (("--url", secure, "--proxy", tunnel.url, "--ca", authority.path), {}),
                 "http_proxy": (("--url", server.template()), {"http_proxy": server.proxy}),
                 "--proxy, http": (("--url", server.template(), "--proxy", server.proxy), {}),
                 "https_proxy": (("--url", secure, "--ca", authority.path), {"https_proxy": tunnel.url})}

        def judge(name, case):
            options, environment = case
            rig, bundle = bench.rig(), bench.stock[4]
            rig.env |= environment
            before, asked = len(server.log()), len(tunnel.asked)
            rig.dest("web", "put", *options)
            rig.push(bundle)
            rig.send(code=0)
            completed(rig, bundle)
            server.keeps(bundle)
            if "https" in name:
                host = server.secure("good").removeprefix("https://")
                expect(set(tunnel.asked[asked:]) == {f"CONNECT {host}"}, f"the proxy was asked {tunnel.asked[asked:]}")
            else:
                # nginx logs each request twice: as the proxy, and as the server that the proxy asked.
                ports = [one["port"] for one in server.logged(before + 4)[before:]]
                expect(ports.count(str(server.ports["proxy"])) == len(ports) / 2, f"ports {ports}")
            server.path(f"store/{bundle.sha256}.bundle").unlink()

        every(some(cases, 1), judge)


def refusing_proxy(bench):
    """If the proxy refuses the connection, the destination waits, and the message quotes the proxy's answer."""
    def judge(name, code):
        with Bare(lambda client, _: (received(client), client.sendall(answer(name, "Connection: close")))) as proxy:
            rig = sent(bench, "put", "https://captures.invalid/{sha256}", "--proxy", proxy.url, code=15)
        is_left(rig, "pending", 0, code)
        expect(name in rig.destination("it").blocked_message, f"says {rig.destination('it').blocked_message!r}")

    every(some({"407": "credentials", "503": "offline"}, 1), judge)


TESTS = [
    ("IPv6", ipv6),
    ("HTTP/2 over TLS, four at once", http2),
    ("proxies, by option and by variable", proxies),
    ("a proxy that refuses", refusing_proxy),
]
