"""put: what lands where, in which form, how that is confirmed, and over which connections."""
import base64
import hashlib
import threading
import time

import put_answers
import put_bytes
from bench import PHOTO
from certificates import Authority
from checks import Skipped, every, expect
from nginx import fresh, has_ipv6
from rigs import AT_ONCE
from scripted import Reply, Scripted, Tunnel


def completed(rig, *bundles, about="put"):
    """Each of them is completed, by one attempt."""
    for bundle in bundles:
        row = rig.delivery(bundle)
        expect((row.state, row.attempts, row.in_doubt) == ("completed", 1, 0), f"{about}: {row.state} after "
               f"{row.attempts} attempts, in doubt {row.in_doubt}: {row.error_code} {row.error_message}")


def landed(bench):
    """The bytes lie where the template says, were confirmed by HEAD, and the receipt says so."""
    rig, bundles = bench.rig(), bench.stock[:2]
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template())
        rig.push(*bundles)
        said = rig.send(code=0).out.decode().splitlines()
        expect(sorted(said) == sorted(f"{bundle.id} completed" for bundle in bundles), f"run prints {said}")
        server.keeps(*bundles)
        seen = server.logged(4)
        expect([one["method"] for one in seen] == ["PUT", "HEAD"] * 2, f"requests: {[one['method'] for one in seen]}")
        for put in seen[::2]:
            expect(put["length"] == str(len(bundles[0].data)) or put["length"] == str(len(bundles[1].data)),
                   f"Content-Length {put['length']}")
            expect(not put["authorization"] and not put["device"], "a plain put sends credentials")
    completed(rig, *bundles)
    receipt = rig.receipt(bundles[0])
    wanted = {"kind": "put", "part": "bundle", "confirmed_by": "head", "status": 201, "bytes": len(bundles[0].data),
              "sha256": bundles[0].sha256, "url": f"{server.url}/store/{bundles[0].sha256}.bundle"}
    expect(wanted.items() <= receipt.items(), f"the receipt is {receipt}")
    expect(rig.send(code=0).out == b"", "a second run sends it again")


def parts(bench):
    """The photo alone, the whole upload body, and the bundle: three destinations of one capture."""
    rig, bundle = bench.rig(), bench.packed("parts", PHOTO[:-2] + b"parts" * 900 + PHOTO[-2:])
    with fresh(bench) as server:
        for part in ("bundle", "photo", "body"):
            rig.dest(part, "put", "--url", f"{server.url}/store/{part}-{{id}}", "--part", part)
        rig.push(bundle, options=("--dest", "bundle", "--dest", "photo", "--dest", "body"))
        rig.send("--until-empty", code=0)
        kept = {part: server.path(f"store/{part}-{bundle.id}").read_bytes() for part in ("bundle", "photo", "body")}
    expect(kept["bundle"] == bundle.data, "the bundle has other bytes")
    expect(hashlib.sha256(kept["photo"]).hexdigest() == bench.photo(bundle), "the photo has other bytes")
    expect(kept["body"] == bench.body(bundle), "the body is not what capbundle multipart writes")
    for part in kept:
        receipt = rig.receipt(bundle, part)
        expect((receipt["part"], receipt["bytes"], receipt["sha256"]) == (part, len(bundle.data), bundle.sha256),
               f"the receipt of the {part} is {receipt}")


def templates(bench):
    """`{sha256}`, `{id}` and `{session}`; a URL that would be the same for all captures is refused."""
    rig, one, two = bench.rig(), *bench.stock[2:4]
    refused = {"no name": "http://127.0.0.1:9/store/x", "only the session": "http://127.0.0.1:9/{session}/x",
               "another scheme": "ftp://127.0.0.1/{sha256}", "a password": "http://me:secret-pw@127.0.0.1:9/{sha256}",
               "an unknown name": "http://127.0.0.1:9/{sha256}/{nobody}"}

    def judge(name, url):
        result = rig.run("dest", "add", "bad", "--kind", "put", "--url", url).must(64, 78, about="dest add")
        expect("secret-pw" not in result.text, "the password is repeated")

    every(refused, judge)
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", f"{server.url}/store/a%20b/{{session}}/{{id}}-{{sha256}}")
        rig.push(one, options=("--session", "roof_7.a-B"))
        rig.push(two)
        rig.send("--until-empty", code=0)
        uris = {seen["uri"] for seen in server.logged(2, method="PUT")}
        wanted = {f"/store/a%20b/roof_7.a-B/{one.id}-{one.sha256}", f"/store/a%20b//{two.id}-{two.sha256}"}
        expect(uris == wanted, f"sent to {uris}")


def heads(bench):
    """Where HEAD is not allowed the status is what there is; a length that disagrees is a failed try."""
    with fresh(bench) as server:
        for place in ("blind", "forgetful"):
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.template(place))
            rig.push(bench.stock[0])
            rig.send(code=0)
            completed(rig, bench.stock[0], about=place)
            expect(rig.receipt(bench.stock[0])["confirmed_by"] == "status", f"{place}: {rig.receipt(bench.stock[0])}")
        rig = bench.rig()
        rig.dest("web", "put", "--url", server.template("short"), "--retry", "0,0,0")
        rig.push(bench.stock[0])
        rig.send("--until-empty", code=14)
        row = rig.delivery(bench.stock[0])
        expect((row.state, row.attempts) == ("permanently_failed", 3), f"a wrong length: {row.state}, {row.attempts}")
        expect(row.receipt is None, "a receipt for what is not there")


def digest_headers(data):
    sha256, md5 = hashlib.sha256(data).digest(), hashlib.md5(data).hexdigest()
    encoded = base64.b64encode(sha256).decode()
    return {"Repr-Digest": f"sha-256=:{encoded}:", "Content-Digest": f"sha-512=:AAAA:, sha-256=:{encoded}:",
            "Digest": f"SHA-256={encoded}", "x-amz-checksum-sha256": encoded, "ETag": f'"{md5}"'}


def digests(bench):
    """A digest in the answer that agrees makes HEAD needless; one that disagrees is a failed try. Content-Digest is that of
    the answer's own content, so that it says nothing where it is another one, and HEAD decides."""
    bundle = bench.stock[0]
    cases = {f"{name}, {word}": (header, "digest" if word == "right" else "head" if name == "Content-Digest" else None)
             for word, data in (("right", bundle.data), ("wrong", bundle.data[:-1] + b"\1"))
             for name, value in digest_headers(data).items() for header in [{name: value}]}

    def judge(name, case):
        header, proof = case
        rig = bench.rig()
        sizes = {"Content-Length": str(len(bundle.data))}
        with Scripted(lambda request: Reply(200, sizes) if request.method == "HEAD" else Reply(201, header)) as server:
            rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,0")
            rig.push(bundle)
            rig.send("--until-empty", code=0 if proof else 14)
            expect(all(put.body == bundle.data for put in server.seen("PUT")), "other bytes came")
            expect(len(server.seen("PUT")) == (1 if proof else 2), f"{len(server.seen('PUT'))} tries")
            expect(proof != "digest" or not server.seen("HEAD"), "HEAD is asked although the digest agreed")
        if proof:
            completed(rig, bundle)
            expect(rig.receipt(bundle)["confirmed_by"] == proof, f"the receipt is {rig.receipt(bundle)}")
        else:
            expect(rig.delivery(bundle).receipt is None, "there is a receipt")

    every(cases, judge)


def short_bodies(bench):
    """A server that keeps half of what it got and says 200: not landed, and what is here stays here."""
    rig, bundle = bench.rig(), bench.stock[0]

    def answer(request):
        half = bundle.data[:len(bundle.data) // 2]
        return Reply(200, {"ETag": f'"{hashlib.md5(half).hexdigest()}"'}, half if request.method == "GET" else b"") \
            if request.method != "HEAD" else Reply(200, {"Content-Length": str(len(half))})

    with Scripted(answer) as server:
        rig.dest("web", "put", "--url", server.url + "/{sha256}", "--retry", "0,0")
        rig.push(bundle)
        rig.send("--until-empty", code=14)
    expect(rig.delivery(bundle).state == "permanently_failed", f"it is {rig.delivery(bundle).state}")
    rig.run("prune", "--older-than", "0s").must(0, about="prune")
    expect(rig.spool_file(bundle).read_bytes() == bundle.data, "the only whole copy is gone")


def ipv6(bench):
    if not has_ipv6():
        raise Skipped("there is no ::1 here")
    rig = bench.rig()
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template().replace("127.0.0.1", "[::1]"))
        rig.push(bench.stock[0])
        rig.send(code=0)
        server.keeps(bench.stock[0])
        expect(all(one["host"].startswith("[::1]:") for one in server.log()), "it did not go over IPv6")
    expect("[::1]" in rig.receipt(bench.stock[0])["url"], "the receipt has another URL")


def http2(bench):
    """Over TLS HTTP/2 is spoken where the server can, four transfers at once included."""
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
    """--proxy and the usual variables: http by way of the proxy, https through a tunnel in it, nothing around it."""
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
                # Each request is there twice: as the proxy's own, and as the one that it made.
                ports = [one["port"] for one in server.logged(before + 4)[before:]]
                expect(ports.count(str(server.ports["proxy"])) == len(ports) / 2, f"ports {ports}")
            server.path(f"store/{bundle.sha256}.bundle").unlink()

        every(cases, judge)


def bandwidth(bench):
    """2 MB at 1 MB a second: not in much less than the time that takes, be it the destination's limit or the run's."""
    bundle = bench.big(2_000_000)
    with fresh(bench) as server:
        for name, of_dest, of_run in (("of the destination", ("--bwlimit", "1MB"), ()),
                                      ("of the run", (), ("--bwlimit", "1MB"))):
            rig = bench.rig()
            rig.dest("web", "put", "--url", server.template(), *of_dest)
            rig.push(bundle)
            start = time.monotonic()
            rig.send(*of_run, code=0)
            spent = time.monotonic() - start
            expect(spent > 1.2, f"the limit {name}: 2 MB in {spent:.2f} s")
            completed(rig, bundle, about=name)
            server.keeps(bundle)


def side_by_side(bench):
    """--concurrency 4: four requests are under way at once; without it never two."""
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


def words(bench):
    """`dest show` and `dest test` name the place; the settings are what was given, and can be changed."""
    rig = bench.rig()
    with fresh(bench) as server:
        rig.dest("web", "put", "--url", server.template("wrong"), "--retry", AT_ONCE, "--header", "X-Site: roof 7")
        rig.run("dest", "set", "web", "--url", server.template()).must(0, about="dest set")
        shown = rig.run("dest", "show", "web").must(0, about="dest show").out.decode()
        expect(server.template() in shown and "X-Site" in shown, f"dest show prints {shown[:300]!r}")
        expect("roof 7" not in shown, "dest show prints what a header holds, which may be a secret")
        rig.run("dest", "test", "web").must(0, about="dest test")
        expect(not server.holds(), "dest test leaves something on the server")
        rig.push(bench.stock[0])
        rig.send(code=0)
        expect(server.logged(1, method="PUT")[0]["site"] == "roof 7", "the header was not sent")
        waited = rig.run("wait", bench.stock[0].id).must(0, about="wait").out.decode()
        expect(waited == f"{bench.stock[0].id} completed\n", f"wait prints {waited!r}")


FAMILY = [
    ("a bundle lands where the template says, and HEAD confirms it", landed),
    ("bundle, photo or body", parts),
    ("templates: {sha256}, {id}, {session}; what cannot work is refused", templates),
    ("a server without HEAD: the status counts; a wrong length: a failed try", heads),
    ("a digest in the answer that agrees or disagrees", digests),
    ("half the bytes kept and 200 said: not landed, the copy here stays", short_bodies),
    ("IPv6", ipv6),
    ("HTTP/2 over TLS, four at once", http2),
    ("proxies, by option and by variable", proxies),
    ("--bwlimit is kept", bandwidth),
    ("--concurrency", side_by_side),
    ("dest show, set and test", words),
    *put_answers.TESTS,
    *put_bytes.TESTS,
]
