"""A server whose answer depends on the path: scenario 7 is below /7. It records all uploads to each scenario."""
import contextlib

from Kit.servers.capture_http import Answer, ScriptedServer

SMALL = 65536  # bytes of the receive buffer: too few for a body, so a client cannot finish one that nobody reads
ACCEPTED = {"data": {"capture_id": "7e57ab1e-0000-4000-8000-000000000202", "status": "complete"}}


class StatusServer:
    """Two origins (ports) with the same scenarios. Each scenario answers once; its later requests are accepted."""

    def __init__(self, scenarios):
        self.scenarios, self._log = scenarios, {number: [] for number in range(len(scenarios))}

    def __enter__(self):
        self._stack = contextlib.ExitStack()
        self._origins = [self._stack.enter_context(Origin(self)) for _ in range(2)]
        return self

    def __exit__(self, *_):
        self._stack.close()

    def url(self, number, origin=0):
        return f"{self._origins[origin].url}/{number}"

    def verify_url(self, number):
        return f"{self.url(number)}/verify-file"

    def log(self, number):
        """Returns the methods of the requests to a scenario in order; ASK stands for a question about a file."""
        return list(self._log[number])

    def answer(self, method, path, peek=False):
        """Returns the answer to a request, and records it unless this is only a `peek`."""
        number = int(path.split("/")[1])
        it, log = self.scenarios[number], self._log[number]
        is_question, is_read = path.endswith("/verify-file"), method in ("GET", "HEAD")
        is_first = not {"POST", "PUT"} & set(log)
        if not peek:
            log.append("ASK" if is_question else "HEAD" if is_read else method)
        if is_read:  # no proof of what is stored; other tests cover such proofs
            return Answer(405, body=b"")
        if is_question:
            return Answer(200, body={"data": {"status": "no_record"}})
        if not is_first:
            return Answer(201, body=b"") if method == "PUT" else Answer(202, body=ACCEPTED)
        if not it.is_whole:
            return Answer(it.status, body="scripted", type="text/plain", when="early")
        headers = {"Retry-After": it.after} if it.after else {}
        if it.to:
            headers["Location"] = self.url(number, 0 if it.to == "same" else 1) + "/moved"
        return Answer(it.status, **self._body(it), headers=headers)

    @staticmethod
    def _body(it):
        if it.status in (204, 304):
            return {"body": b""}
        if it.is_edge:
            return {"body": "<html><body>blocked</body></html>", "type": "text/html"}
        if it.code:
            return {"body": {"error": {"code": it.code, "message": "scripted"}}}
        if it.kind == "http" and it.status == 202:
            return {"body": ACCEPTED}
        return {"body": "scripted", "type": "text/plain"}


class Origin(ScriptedServer):
    def __init__(self, owner):
        super().__init__(buffer=SMALL)
        self.script = owner.answer
