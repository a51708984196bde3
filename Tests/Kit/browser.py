"""Runs headless Chromium, and a server on the loopback interface that must not receive any request."""
import base64
import http.server
import importlib.resources
import pathlib
import threading

from Kit.processes import descendants
from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.chrome.service import Service

WIDTHS = (390, 800, 1400)
SCHEMES = ("light", "dark")
REACH_OUT = """
    const [url, done] = arguments;
    const add = (tag, attributes) => {
        const element = document.createElement(tag);
        for (const name in attributes) element.setAttribute(name, attributes[name]);
        document.body.append(element);
    };
    add('img', {src: url + '/image'});
    add('link', {rel: 'stylesheet', href: url + '/style'});
    // What trusted types refuse throws an error.
    for (const tag of ['script', 'iframe']) try { add(tag, {src: url + '/' + tag}) } catch {}
    try { add('img', {src: 'data:,x', onerror: "document.title = 'owned'"}) } catch {}
    add('p', {style: 'color: rgb(1, 2, 3)', id: 'styled'});
    fetch(url + '/fetch').catch(() => 0);
    navigator.sendBeacon(url + '/beacon', 'x');
    try { new Worker(url + '/worker') } catch {}
    try { new EventSource(url + '/events') } catch {}
    setTimeout(done, 500);
    """


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
        """Returns the value with which a script calls its last argument, a function."""
        return self.driver.execute_async_script(script, *arguments)

    def alert(self):
        """The text of the alert that a script of the page shows, or None."""
        try:
            return self.driver.switch_to.alert.text
        except NoAlertPresentException:
            return None

    def violations(self):
        """Returns what axe-core reports: parts of the page that people with a screen reader or weak eyes cannot use."""
        self.ask((importlib.resources.files("axe_core_python") / "axe.min.js").read_text())
        return self.ask_async(
            "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.map("
            "v => v.id + ': ' + v.nodes.length + ' ' + v.nodes[0].html.slice(0, 120))))")

    def skipped_levels(self):
        """The levels of the page's headings, if one is skipped."""
        levels = self.ask("return [...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        return levels if any(after > before + 1 for before, after in zip(levels, levels[1:])) else []

    def reach_out(self, url):
        """Tries what a content security policy must stop: requests to the URL, a script, and a style for #styled."""
        self.ask_async(REACH_OUT, url)

    def choose(self, name, files):
        """Gives files to an input element."""
        self.driver.find_element("id", name).send_keys("\n".join(str(path) for path in files))

    def processes(self):
        """The numbers of all processes of Chromium."""
        service = self.driver.service.process.pid
        return [service, *descendants(service)]

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
