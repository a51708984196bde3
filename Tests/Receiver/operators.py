"""The operator of a running receiver, and the pages that need the operator's token."""
import re
import urllib.parse

from Kit.outcomes import expect

LIST_OPTIONS = ("--operator-port", "0")


class Operator:
    """The operator of a running receiver, who opened the printed address."""

    def __init__(self, receiver):
        line = receiver.process.stdout.readline().decode().strip()
        expect(line.startswith("operator http://127.0.0.1:"), f"the receiver printed {line!r}")
        self.address = urllib.parse.urlsplit(line.split()[1])
        self.port, self.receiver = self.address.port, receiver
        self.token = urllib.parse.parse_qs(self.address.query)["token"][0]
        self.cookie = None

    def get(self, path, cookie=None):
        headers = {"Cookie": cookie or self.cookie} if cookie or self.cookie else {}
        return self.receiver.ask("GET", path, headers, port=self.port)

    def open(self):
        answer = self.get(f"/?{self.address.query}")
        expect(answer.status == 303 and answer.headers["Location"] == "/", f"the token: {answer.status}")
        self.set_cookie = answer.headers["Set-Cookie"]
        self.cookie = self.set_cookie.split(";")[0]
        return self

    def ask(self, method, path):
        expect(method == "GET", f"the operator sends {method}")
        return self.get(path)

    def captures(self, **query):
        """The ids of the captures in the list, in its order, and the address of the next page."""
        answer = self.get("/?" + urllib.parse.urlencode(query))
        expect(answer.status == 200, f"the list: {answer.status}")
        source = answer.bytes.decode()
        older = re.search(r'href="/\?([^"]*before=[0-9]+)"', source)
        ids = re.findall(r'<img src="/thumbnails/([0-9a-f.-]+)"', source)
        return ids, dict(urllib.parse.parse_qsl(older[1].replace("&amp;", "&"))) if older else None
