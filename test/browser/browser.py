"""A headless Chromium, driven through a pipe by the DevTools protocol."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    """Opens pages and collects what their consoles say. Use it in a `with` statement."""

    def __init__(self):
        self.program = shutil.which("chromium")
        if not self.program:
            raise RuntimeError("chromium is missing; tools/dev/packages.txt lists it")
        self.number, self.problems, self.buffer = 0, [], b""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        orders, self.orders = os.pipe()
        self.answers, answers = os.pipe()
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
                 "--no-first-run", "--disable-background-networking", f"--user-data-dir={self.folder.name}", "about:blank"]
        # Chromium reads orders from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(["sh", "-c", f'exec "$@" 3<&{orders} 4>&{answers}', "sh", self.program, *flags],
                                        pass_fds=(orders, answers), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(orders)
        os.close(answers)
        target = self.send("Target.createTarget", {"url": "about:blank"}, session=None)["targetId"]
        self.session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True}, session=None)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)
        for descriptor in (self.orders, self.answers):
            os.close(descriptor)
        self.folder.cleanup()

    def read(self, seconds):
        """Returns the next message, or None after `seconds`."""
        while b"\0" not in self.buffer:
            if not select.select([self.answers], [], [], seconds)[0]:
                return None
            piece = os.read(self.answers, 1 << 20)
            if not piece:
                raise RuntimeError("chromium has ended")
            self.buffer += piece
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def note(self, message):
        """Keeps errors and warnings, and every request that leaves the page."""
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.problems.append(json.dumps(parameters["exceptionDetails"])[:600])
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            self.problems.append(json.dumps(parameters["args"])[:600])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            self.problems.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "about:", "data:")):
            self.problems.append("asks for " + parameters["request"]["url"])

    def send(self, method, parameters=None, session="own"):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if session:
            message["sessionId"] = self.session
        os.write(self.orders, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            answer = self.read(5)
            if answer and answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            if answer:
                self.note(answer)
        raise RuntimeError(f"{method} is not answered")

    def run(self, script):
        """Returns the value of an expression in the page; waits for a promise."""
        result = self.send("Runtime.evaluate", {"expression": script, "awaitPromise": True, "returnByValue": True})
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:800])
        return result["result"].get("value")

    def settle(self):
        """Waits until drawings that follow the size of the window are drawn."""
        self.run("new Promise(done => { let left = 4; (function next() { left-- ? requestAnimationFrame(next) : done(); })(); })")

    def resize(self, width, height=1000):
        self.send("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.settle()

    def prefer(self, scheme):
        self.send("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})

    def open(self, path):
        """Opens a page and waits until it is drawn. Returns the seconds that this took, as the page counts them."""
        self.problems.clear()
        self.send("Page.navigate", {"url": "file://" + path})
        for _ in range(200):
            if self.run("document.documentElement?.dataset.ready === 'yes' && document.readyState === 'complete'"):
                self.settle()
                return self.run("performance.now()") / 1000
            time.sleep(0.02)
        raise RuntimeError(f"{path} is not drawn: {self.problems}")

    def mouse(self, kind, x, y, **further):
        self.send("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **further})
        self.settle()

    def screenshot(self, path):
        import base64
        size = self.run("[document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}
        data = self.send("Page.captureScreenshot", {"captureBeyondViewport": True, "clip": clip})["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
