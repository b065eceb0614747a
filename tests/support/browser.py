"""A real browser for tests of HTML: Chromium without a window, driven over the DevTools protocol."""

import base64
import json
import os
import pathlib
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
WORDS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-port=0",
    "--no-first-run", "--disable-extensions", "about:blank",
)  # fmt: skip


class Socket:
    """A web socket: what the protocol needs of it."""

    def __init__(self, address):
        parts = urllib.parse.urlparse(address)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while not self.read_until_empty():
            pass

    def read_until_empty(self):
        line = b""
        while not line.endswith(b"\r\n"):
            line += self.socket.recv(1)
        return line == b"\r\n"

    def read(self, size):
        got = b""
        while len(got) < size:
            part = self.socket.recv(size - len(got))
            assert part, "the browser has closed the connection"
            got += part
        return got

    def send(self, text):
        mask = os.urandom(4)
        body = text.encode()
        head = bytes([0x81])
        if len(body) < 126:
            head += bytes([0x80 | len(body)])
        else:
            head += bytes([0x80 | 127]) + struct.pack(">Q", len(body))
        pad = (mask * (len(body) // 4 + 1))[: len(body)]
        masked = (int.from_bytes(body, "big") ^ int.from_bytes(pad, "big")).to_bytes(len(body), "big")
        self.socket.sendall(head + mask + masked)

    def receive(self):
        text = b""
        while True:
            first, size = self.read(2)
            size &= 0x7F
            if size == 126:
                size = struct.unpack(">H", self.read(2))[0]
            elif size == 127:
                size = struct.unpack(">Q", self.read(8))[0]
            part = self.read(size)
            if first & 0x0F in (0, 1, 2):
                text += part
                if first & 0x80:
                    return text.decode()


class Browser:
    """One window. `errors` has what the console reported, exceptions and refused loads too."""

    def __init__(self):
        self.folder = tempfile.mkdtemp()
        self.process = subprocess.Popen(
            [PROGRAM, f"--user-data-dir={self.folder}", *WORDS],
            env={name: word for name, word in os.environ.items() if name != "LD_PRELOAD"},  # ASan's
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port = pathlib.Path(self.folder, "DevToolsActivePort")
        for _ in range(600):
            if port.exists() and port.read_text().count("\n"):
                break
            time.sleep(0.05)
        number = port.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{number}/json/list") as answer:
            pages = [page for page in json.load(answer) if page["type"] == "page"]
        self.socket = Socket(pages[0]["webSocketDebuggerUrl"])
        self.count = 0
        self.errors = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **words):
        self.count += 1
        self.socket.send(json.dumps({"id": self.count, "method": method, "params": words}))
        while True:
            message = json.loads(self.socket.receive())
            if message.get("id") == self.count:
                assert "error" not in message, (method, message["error"])
                return message["result"]
            self.note(message)

    def note(self, message):
        method, words = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(words["exceptionDetails"].get("exception", words)["description"])
        elif method == "Log.entryAdded" and words["entry"]["level"] in ("error", "warning"):
            self.errors.append(words["entry"]["text"])
        elif method == "Runtime.consoleAPICalled" and words["type"] in ("error", "warning"):
            self.errors.append(str(words["args"]))
        elif method == "Network.requestWillBeSent":
            if not words["request"]["url"].startswith(("file:", "data:", "about:")):
                self.errors.append("request: " + words["request"]["url"])

    def do(self, script):
        """The value of the expression."""
        result = self.call(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def open(self, path, width=1280, height=800, dark=False, fragment=""):
        self.call("Page.navigate", url="about:blank")
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=False,
        )  # fmt: skip
        scheme = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )
        self.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri() + fragment)
        for _ in range(600):
            if self.do("document.readyState") == "complete" and self.do("location.href") != "about:blank":
                return
            time.sleep(0.02)

    def press(self, key):
        """A key that writes itself, or a named one."""
        text = {"text": key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def write(self, text):
        self.call("Input.insertText", text=text)

    def picture(self, path):
        data = self.call("Page.captureScreenshot", format="png")["data"]
        pathlib.Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
