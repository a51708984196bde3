"""put: IPv6, HTTP/2, proxies, and several transfers at once."""
import threading

from certificates import Authority
from checks import Skipped, every, expect
from nginx import fresh, has_ipv6
from raw_server import Bare, answer, received
from rigs import completed
from scripted import Reply, Scripted, Tunnel


def ipv6(bench):
    if not has_ipv6():
        raise Skipped("this machine has no ::1")
    rig = bench.rig()
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template().replace("127.0.0.1", "[::1]"))
        rig.push(bench.stock[0])
        rig.send(code=0)
        server.keeps(bench.stock[0])
        expect(all(one["host"].startswith("[::1]:") for one in server.log()), "it did not go over IPv6")
    expect("[::1]" in rig.receipt(bench.stock[0])["url"], "the receipt has another URL")


def http2(bench):
    """With TLS the tool uses HTTP/2 if the server supports it, also for four transfers at once."""
    rig = bench.rig()
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    with fresh(bench, tls={"good": authority.server()}) as server:
        rig.dest("web", "put", "--url", f"{server.secure('good')}/store/{{sha256}}.bundle", "--ca", authority.path,
                 "--concurrency", "4")
        rig.push(*bench.stock[:8])
        rig.send(code=0)
        completed(rig, *bench.stock[:8])
        server.keeps(*bench.stock[:8])
        spoken = {one["protocol"] for one in server.logged(16)}
        expect(spoken == {"HTTP/2.0"}, f"spoken was {spoken}")


def proxies(bench):
    """With --proxy or the usual variables http goes to the proxy, and https through a tunnel in it."""
    authority = Authority(bench.folder / f"ca{next(bench.numbers)}")
    with fresh(bench, tls={"good": authority.server()}) as server, Tunnel() as tunnel:
        secure = f"{server.secure('good')}/store/{{sha256}}.bundle"
        cases = {"--proxy, http": (("--url", server.template(), "--proxy", server.proxy), {}),
                 "http_proxy": (("--url", server.template()), {"http_proxy": server.proxy}),
                 "--proxy, https": (("--url", secure, "--proxy", tunnel.url, "--ca", authority.path), {}),
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

        every(cases, judge)


def side_by_side(bench):
    """With --concurrency 4 four requests run at once; without it never two."""
    def counted(options, meeting):
        rig, lock, now, most = bench.rig(), threading.Lock(), [0], [0]

        def answer(request):
            if request.method != "PUT":
                return Reply(405)
            with lock:
                now[0] += 1
                most[0] = max(most[0], now[0])
            meeting.wait(30)
            with lock:
                now[0] -= 1
            return Reply(201)

        with Scripted(answer) as server:
            rig.dest("web", "put", "--url", server.url + "/{sha256}", *options)
            rig.push(*bench.stock[:8])
            rig.send(code=0)
            completed(rig, *bench.stock[:8])
        return most[0]

    expect(counted(("--concurrency", "4"), threading.Barrier(4)) == 4, "with --concurrency 4 not four at once")
    expect(counted((), threading.Barrier(1)) == 1, "without --concurrency several at once")


def refusing_proxy(bench):
    """If the proxy refuses the connection, the destination waits, and the message quotes the proxy's answer."""
    def judge(name, code):
        with Bare(lambda client, _: (received(client), client.sendall(answer(name, "Connection: close")))) as proxy:
            rig = bench.rig()
            rig.dest("web", "put", "--url", "https://captures.invalid/{sha256}", "--proxy", proxy.url)
            rig.push(bench.stock[0])
            rig.send("--once", code=15)
        row, place = rig.delivery(bench.stock[0]), rig.destination("web")
        expect((row.state, row.attempts) == ("pending", 0), f"is {row.state} after {row.attempts} attempts: "
               f"{row.error_code} {row.error_message}")
        expect(place.blocked_reason == code and name in (place.blocked_message or ""), f"is {place.blocked_reason}: "
               f"{place.blocked_message!r}")

    every({"503": "offline", "407": "credentials"}, judge)


FAMILY = [
    ("IPv6", ipv6),
    ("HTTP/2 over TLS, four at once", http2),
    ("proxies, by option and by variable", proxies),
    ("--concurrency", side_by_side),
    ("a proxy that refuses", refusing_proxy),
]
