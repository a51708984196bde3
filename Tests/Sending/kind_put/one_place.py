"""put: no two captures count as uploaded to one place, and a 2xx alone does not prove that the server has the bytes."""
from Kit.outcomes import IS_LONG, every, expect
from Kit.servers.nginx import fresh
from Kit.servers.scripted import Reply, Scripted
from Sending.answers.tries import added, confirmed_by, is_left, sent
from Sending.captures import twins

START = "$(echo $CAPQUEUE_SHA256 | cut -c1-20)"  # a name that differs for each capture, and is neither hash nor id


def typo(bench):
    """A url-command with a typo gives six captures one URL at nginx, which ignores If-None-Match: one capture lands,
    the others wait, and `prune` deletes only the one. Once the command is right, all are there."""
    bundles = bench.stock[:6]
    urls = {"$CAPQUEUE_SHA265 is empty": "/store/$CAPQUEUE_SHA265.bundle",
            "only the query differs, which nginx ignores": "/store/one?id=$CAPQUEUE_ID\\&sig=$CAPQUEUE_SHA256",
            "another escape, another fragment":
                "/store/$(case $CAPQUEUE_SHA256 in [0-7]*) echo one;; *) echo %6Fne;; esac)#$CAPQUEUE_SHA256"}

    def judge(name, path):
        with fresh(bench) as server:
            rig = sent(bench, "put", None, "--url-command", f"echo {server.url}{path}", "--concurrency", "3",
                       bundles=bundles, mode="--until-empty", code=15)
            place = rig.destination("it")
            expect(place.blocked_reason == "address", f"blocked as {place.blocked_reason}: {place.blocked_message}")
            landed, *more = [bundle for bundle in bundles if rig.delivery(bundle).state == "completed"]
            expect(not more, f"{len(more) + 1} captures landed in one place")
            confirmed_by(rig, "bytes", landed)
            others = [row for row in rig.deliveries() if row.bundle != landed.id]
            expect({(row.state, row.attempts, row.in_doubt) for row in others} == {("pending", 0, 0)}, "others failed")
            for mode in ("--once", "--until-empty"):
                rig.send(mode, code=15)
            expect(len(server.log(method="PUT")) == 1, f"{len(server.log(method='PUT'))} are sent to one place")
            expect([server.path(one).read_bytes() for one in server.holds()] == [landed.data], "it holds other bytes")
            rig.run("prune", "--older-than", "0s").must(0, about="prune")
            kept = [bundle for bundle in bundles if rig.spool_file(bundle).exists()]
            expect(kept == [one for one in bundles if one != landed], f"prune keeps {len(kept)}")
            rig.run("dest", "set", "it", "--url-command", f"echo {server.url}/store/$CAPQUEUE_SHA256.bundle").must(0)
            rig.send("--until-empty", code=0)
            expect(len(server.holds()) == 6 and rig.states() == {"completed"}, f"{server.holds()}, {rig.states()}")

    every(urls if IS_LONG else dict(list(urls.items())[:2]), judge)


def shared(bench):
    """The same photo may share a place, also through another destination; another photo may not, nor may it take the
    place that an upload to a plain URL has, nor may another part of the same capture."""
    same, other = twins(bench), bench.stock[0]
    with fresh(bench) as server:
        rig = sent(bench, "put", None, "--url-command", f"echo {server.url}/store/p.jpg", "--part", "photo",
                   bundles=same, code=0)
        rig.dest("two", "put", "--url-command", f"echo {server.url}/store/p.jpg", "--part", "photo")
        rig.dest("plain", "put", "--url", server.template())
        rig.push(*same, options=("--dest", "two", "--dest", "plain"))
        rig.send(code=0)
        rig.push(other, options=("--dest", "two"))
        rig.send(code=15)
        expect(rig.destination("two").blocked_reason == "address", f"as {rig.destination('two').blocked_reason}")
        expect(same[0].id in rig.destination("two").blocked_message, rig.destination("two").blocked_message)
        taken = f"{server.url}/store/{same[0].sha256}.bundle"
        rig.run("dest", "set", "two", "--url-command", f"echo {taken}", "--part", "bundle").must(0, about="dest set")
        rig.send(code=15)
        expect(server.path(f"store/{same[0].sha256}.bundle").read_bytes() == same[0].data, "it was replaced")
        for name, part in ("whole", "bundle"), ("picture", "photo"):
            rig.dest(name, "put", "--url", f"{server.url}/store/x{{sha256}}", "--part", part)
        rig.push(other, options=("--dest", "whole", "--dest", "picture"))
        rig.send("--dest", "whole", code=0)
        rig.send("--dest", "picture", code=15)
        place = rig.destination("picture")
        expect(place.blocked_reason == "address", f"blocked as {place.blocked_reason}")
        expect(server.path(f"store/x{other.sha256}").read_bytes() == other.data, "another part replaced the bundle")


def proven(bench):
    """A URL that names no hash and no id, and 204 to a conditional PUT, count only with the right bytes at GET."""
    bundle = bench.stock[0]
    wrong = bundle.data[:-600] + bytes([bundle.data[-600] ^ 1]) + bundle.data[-599:]
    # The path, the status of PUT, the bytes of GET, and what the receipt is confirmed by.
    cases = {"201, a name": (START, 201, bundle.data, "bytes"), "201, a name, other bytes": (START, 201, wrong, None),
             "201, the hash": ("x/$CAPQUEUE_SHA256.tar", 201, wrong, "head"),
             "204, the hash, other bytes": ("$CAPQUEUE_SHA256", 204, wrong, None),
             "204, the hash": ("$CAPQUEUE_SHA256", 204, bundle.data, "bytes"),
             "200, the id": ("$CAPQUEUE_ID", 200, wrong, "head"),
             "200, the hash in the query": ("put?$CAPQUEUE_SHA256", 200, wrong, None)}

    def judge(name, case):
        path, status, data, proof = case

        def reply(request):
            if request.method == "PUT":
                return Reply(status)
            headers = {"Content-Length": str(len(data))}
            return Reply(200, headers) if request.method == "HEAD" else Reply(200, headers, data)

        with Scripted(reply) as server:
            rig = sent(bench, "put", None, "--url-command", f"echo {server.url}/{path}", retry="0,600",
                       code=0 if proof else 15)
        row = is_left(rig, "completed" if proof else "failed")
        if proof:
            confirmed_by(rig, proof)
        else:
            expect((row.error_code, row.in_doubt) == ("put.digest", 1), f"{row.error_code}, {row.in_doubt}")

    every(cases if IS_LONG else dict(list(cases.items())[:5]), judge)


def unproven(bench):
    """Where GET is refused, nothing is proven: the destination is blocked and names the setting, no attempt is used,
    nothing is sent again or pruned. The capture lands once GET is allowed, or with --proof status."""
    bundle = bench.stock[0]
    cases = {"403, then --proof status": (START, 201, 403, True), "405, then allowed": (START, 201, 405, False),
             "204, then --proof status": ("$CAPQUEUE_SHA256", 204, 501, True),
             "a login page, then allowed": (START, 200, 302, False)}

    def judge(name, case):
        path, status, refusal, by_status = case
        is_open = []

        def reply(request):
            if request.method == "PUT":
                return Reply(412 if server.seen("PUT") else status)
            if not is_open:
                return Reply(refusal, {"Location": "/login"})
            headers = {"Content-Length": str(len(bundle.data))}
            return Reply(200, headers, b"" if request.method == "HEAD" else bundle.data)

        with Scripted(reply) as server:
            rig = added(bench, "put", None, "--url-command", f"echo {server.url}/{path}")
            for _ in range(3):
                said = rig.send("--until-empty", code=15)
                expect("dest set it --proof status" in said.text, f"run says {said.text!r}")
                row = is_left(rig, "pending", 0, "unproven")
                expect(row.in_doubt == 1 and not row.receipt, f"in doubt {row.in_doubt}, {row.receipt}")
                rig.run("prune", "--older-than", "0s").must(0, about="prune")
                expect(rig.spool_file(bundle).exists(), "prune deletes what is unproven")
            if by_status:
                rig.run("dest", "set", "it", "--proof", "status").must(0, about="dest set")
            else:
                is_open.append(True)
            rig.send("--until-empty", code=0)
            expect(len(server.seen("PUT")) == 1, f"it is sent {len(server.seen('PUT'))} times")
        is_left(rig, "completed", 1)
        confirmed_by(rig, "status" if by_status else "bytes")
        expect(rig.receipt(bundle)["status"] == status, f"{rig.receipt(bundle)}")

    every(cases if IS_LONG else dict(list(cases.items())[:3]), judge)


TESTS = [
    ("a url-command with a typo: one capture lands, the others wait", typo),
    ("the same bytes can share a place, others cannot", shared),
    ("a URL without hash or id, or a 204, needs the right bytes", proven),
    ("a server that shows nothing blocks the destination, and gets nothing twice", unproven),
]
