"""A small HTTP server on this machine for tests of the browser's side: `with serve(answer) as origin`.

answer(path) gives (body as bytes, headers) or None for what is missing. WebSockets get the texts of `messages` and are
then listened to until they close."""
import base64
import contextlib
import hashlib
import http.server
import mimetypes
import os
import struct
import threading

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves what answer() gives, never to be kept."""
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.headers.get("Upgrade", "").lower() == "websocket":
            self.talk()
            return
        answer = self.server.answer(self.path.partition("?")[0])
        body, headers = answer or (b"", {})
        self.send_response(200 if answer else 404)
        for name, value in {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)),
                            "Cache-Control": "no-store", **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def talk(self):
        """Takes a WebSocket, says what there is to say, and waits for its end."""
        accept = base64.b64encode(hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + MAGIC).digest()).decode()
        self.send_response(101)
        for name, value in (("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept)):
            self.send_header(name, value)
        self.end_headers()
        for text in self.server.messages:
            data = text.encode()
            self.wfile.write(b"\x81" + (bytes([len(data)]) if len(data) < 126 else b"\x7f" + struct.pack(">Q", len(data))) + data)
        while self.rfile.read1(65536):
            pass
        self.close_connection = True

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serve(answer, messages=()):
    """Serves on a free port for as long as the `with` lasts; gives the origin."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.answer, server.messages = answer, messages
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def folder(root, **headers):
    """What a folder holds, as answer() of serve(); `/` is its index.html. Named headers have _ for -."""
    more = {k.replace("_", "-"): v for k, v in headers.items()}

    def answer(path):
        file = os.path.realpath(os.path.join(root, path.lstrip("/") or "index.html"))
        if not file.startswith(os.path.realpath(root) + os.sep) or not os.path.isfile(file):
            return None
        with open(file, "rb") as f:
            return f.read(), {"Content-Type": mimetypes.guess_type(file)[0] or "application/octet-stream", **more}
    return answer
