"""Runs headless Firefox over WebDriver BiDi: Debian has no geckodriver, and Firefox needs none for this protocol."""
import json
import pathlib
import subprocess
import tempfile
import time

import websocket

FIREFOX = "/usr/bin/firefox-esr"
PATIENCE = 120  # seconds in which Firefox must open its port


class Firefox:
    """The part of Browser (Tests/Kit/browser.py) that the tests of verdicts need."""

    def __enter__(self):
        self._profile = tempfile.TemporaryDirectory()
        self._process = subprocess.Popen(
            [FIREFOX, "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", self._profile.name],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={"HOME": self._profile.name, "PATH": "/usr/bin"})
        address = self._address()
        self._socket = websocket.create_connection(f"{address}/session", timeout=300, suppress_origin=True)
        self._count = 0
        self._messages = []
        self._command("session.new", capabilities={})
        self._command("session.subscribe", events=["log.entryAdded"])
        self._context = self._command("browsingContext.getTree")["contexts"][0]["context"]
        return self

    def _address(self):
        """Where Firefox listens. It writes this file into its profile when it does."""
        path = pathlib.Path(self._profile.name) / "WebDriverBiDiServer.json"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                server = json.loads(path.read_text())
                return f"ws://{server['ws_host']}:{server['ws_port']}"
            except (OSError, ValueError):
                time.sleep(0.1)
        raise RuntimeError("Firefox did not start")

    def __exit__(self, *_):
        self._socket.close()
        self._process.terminate()
        self._process.wait()
        self._profile.cleanup()

    def open(self, path):
        self._messages.clear()
        self._command("browsingContext.navigate", context=self._context, url=pathlib.Path(path).as_uri(), wait="complete")
        return list(self._messages)

    def ask(self, script, *arguments):
        return self._call(f"function() {{ return JSON.stringify((function() {{ {script} }}).apply(null, arguments)) }}", arguments)

    def ask_async(self, script, *arguments):
        """Runs a script that calls its last argument with the result."""
        run = f"(function() {{ {script} }})(...given, resolve)"
        return self._call(f"function(...given) {{ return new Promise(resolve => {{ {run} }}).then(JSON.stringify) }}", arguments)

    def choose(self, name, files):
        found = self._command("browsingContext.locateNodes", context=self._context,
                              locator={"type": "css", "value": f"#{name}"})
        self._command("input.setFiles", context=self._context, element={"sharedId": found["nodes"][0]["sharedId"]},
                      files=[str(path) for path in files])

    def _call(self, function, arguments):
        # The arguments are text of the script, because BiDi has a form of its own for each kind of value.
        values = ", ".join(json.dumps(one) for one in arguments)
        answer = self._command(
            "script.callFunction", functionDeclaration=f"() => ({function})({values})", awaitPromise=True,
            target={"context": self._context})
        if answer["type"] != "success":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        value = answer["result"].get("value")
        return None if value is None else json.loads(value)

    def _command(self, method, **parameters):
        self._count += 1
        self._socket.send(json.dumps({"id": self._count, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self._socket.recv())
            if answer.get("method") == "log.entryAdded":
                self._messages.append(answer["params"]["text"])
            if answer.get("id") != self._count:
                continue
            if answer["type"] == "error":
                raise RuntimeError(f"{method}: {answer['message']}")
            return answer["result"]
