"""The server of a sequence: it shows what it has, and remembers what it should not have been sent."""
import base64
import hashlib
import threading

from Kit.servers.scripted import Reply, Scripted


class Web(Scripted):
    """Stores each bundle under its SHA-256. While `gate` is closed, it stores what comes, and does not answer.

    `twice` has what was sent again unasked: the server had it, and nobody said `--resend`.
    """

    def __init__(self):
        super().__init__(self._answer)
        self.kept, self.wanted, self.twice, self.wrong, self.waiting, self.reports, self.puts = {}, set(), [], [], [], [], []
        self.gate, self.slow = threading.Event(), "PUT"
        self.gate.set()

    def _answer(self, request):
        if request.method == "POST":
            self.reports.append((request.key, request.json))
        if request.method == "PUT":
            self._take(request)
        if request.method == self.slow and not self.gate.is_set():
            self.waiting.append(request.path)
            self.wait(self.gate)
        if request.method in ("PUT", "POST"):
            return Reply(201)
        data = self.kept.get(request.path)
        if data is None:
            return Reply(404)
        digest = base64.b64encode(hashlib.sha256(data).digest()).decode()
        return Reply(200, {"Repr-Digest": f"sha-256=:{digest}:"}, data)

    def _take(self, request):
        if request.path in self.kept and request.path not in self.wanted:
            self.twice.append(request.path)
        self.wanted.discard(request.path)
        self.puts.append(request.path)
        if hashlib.sha256(request.body).hexdigest() != request.path[1:]:
            self.wrong.append(request.path)
        self.kept[request.path] = request.body
