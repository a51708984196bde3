"""Runs headless Chromium, and a server on the loopback interface that must not receive any request."""
import base64
import http.server
import pathlib
import threading

from selenium import webdriver
from selenium.webdriver.chrome.service import Service

WIDTHS = (390, 800, 1400)
SCHEMES = ("light", "dark")


class Listener:
    """A server that counts the requests it receives."""

    def __enter__(self):
        self.requests = []
        requests = self.requests

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                requests.append(self.path)
                self.send_response(200)
                self.end_headers()

            do_POST = do_HEAD = do_OPTIONS = do_GET

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(self, *_):
        self._server.shutdown()


class Browser:
    def __enter__(self):
        options = webdriver.ChromeOptions()
        # Root can start Chromium only without its sandbox.
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(word)
        options.binary_location = "/usr/bin/chromium"
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.set_capability("unhandledPromptBehavior", "ignore")
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.driver.set_page_load_timeout(120)
        self.driver.set_script_timeout(120)
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def open(self, path, width=800, scheme="light", media=""):
        """Opens a page, by its path or its URL, and returns the messages of its console."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self.command("Emulation.setEmulatedMedia", features=features, media=media)
        self.driver.get_log("browser")
        self.driver.get(path if isinstance(path, str) else path.as_uri())
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def command(self, name, **parameters):
        return self.driver.execute_cdp_cmd(name, parameters)

    def ask(self, script, *arguments):
        """Returns the value of a script that runs in the page, beside its content security policy."""
        return self.driver.execute_script(script, *arguments)

    def ask_async(self, script, *arguments):
        """Returns what a script gives to its last argument, which is a function."""
        return self.driver.execute_async_script(script, *arguments)

    def choose(self, name, files):
        """Gives files to an input element."""
        self.driver.find_element("id", name).send_keys("\n".join(str(path) for path in files))

    def processes(self):
        """The numbers of all processes of Chromium."""
        found, new = [], [self.driver.service.process.pid]
        while new:
            found += new
            new = [int(child) for parent in new for task in pathlib.Path(f"/proc/{parent}/task").glob("*/children")
                   for child in task.read_text().split()]
        return found

    def pdf(self):
        return base64.b64decode(self.command("Page.printToPDF")["data"])

    def keep_pictures(self, page, place):
        for width in WIDTHS:
            for scheme in SCHEMES:
                self.open(page, width, scheme)
                self.keep_picture(place.with_name(f"{place.name}-{width}-{scheme}.png"), width)

    def keep_picture(self, place, width):
        height = min(self.ask("return document.documentElement.scrollHeight"), 6000)
        clip = {"x": 0, "y": 0, "width": width, "height": height, "scale": 1}
        shot = self.command("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        place.write_bytes(base64.b64decode(shot["data"]))
