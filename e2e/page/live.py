#!/usr/bin/env python3
"""The page's WebSocket without a browser: what it answers to, and to whom.

    with Live("http://127.0.0.1:8080") as live:
        live.say({"token": "..."})
        live.hear()     # a message, or Closed

As a program, `live.py ORIGIN TOKEN`, it prints what comes of a token: the first message, or the code that it is closed with."""
import base64
import hashlib
import json
import os
import socket
import ssl
import struct
import sys
import urllib.parse

MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Closed(Exception):
    """The page closed the socket, with a code and its reason."""

    def __init__(self, code, reason):
        super().__init__(f"closed with {code}: {reason}")
        self.code = code
        self.reason = reason


class Refused(Exception):
    """The handshake was answered otherwise; `status` of HTTP."""

    def __init__(self, status):
        super().__init__(f"refused with {status}")
        self.status = status


class Live:
    """One WebSocket. `host` and `origin` stand in place of what a browser would say."""

    def __init__(self, address, host=None, origin=None, ca=None, timeout=300):
        url = urllib.parse.urlsplit(address)
        self.wire = socket.create_connection((url.hostname, url.port), timeout)
        if url.scheme == "https":
            self.wire = ssl.create_default_context(cafile=ca).wrap_socket(self.wire, server_hostname=url.hostname)
        self.read = self.wire.makefile("rb")
        key = base64.b64encode(os.urandom(16))
        host = host or url.netloc
        lines = ["GET /live HTTP/1.1", f"Host: {host}", f"Origin: {origin or f'{url.scheme}://{host}'}", "Connection: Upgrade",
                 "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key.decode()}", "", ""]
        self.wire.sendall("\r\n".join(lines).encode())
        status = int(self.read.readline().split()[1])
        headers = dict(line.lower().split(": ", 1) for line in iter(lambda: self.read.readline().decode().strip(), ""))
        if status != 101:
            self.close()
            raise Refused(status)
        wanted = base64.b64encode(hashlib.sha1(key + MAGIC).digest()).decode()
        assert headers["sec-websocket-accept"] == wanted.lower(), headers

    def say(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        size = struct.pack("!BB", 0x81, 0x80 | len(data)) if len(data) < 126 else struct.pack("!BBH", 0x81, 0xfe, len(data))
        self.wire.sendall(size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def frame(self):
        first, size = struct.unpack("!BB", self.read.read(2))
        if size >= 126:
            size = struct.unpack("!H" if size == 126 else "!Q", self.read.read(2 if size == 126 else 8))[0]
        return first, self.read.read(size)

    def hear(self):
        """The next message; Closed."""
        text = b""
        while True:
            first, data = self.frame()
            kind = first & 15
            if kind == 8:
                raise Closed(struct.unpack("!H", data[:2])[0] if data else 1005, data[2:].decode())
            if kind in (0, 1):
                text += data
                if first & 0x80:
                    return json.loads(text)

    def close(self):
        self.read.close()
        self.wire.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def main():
    with Live(sys.argv[1]) as live:
        live.say({"token": sys.argv[2]})
        try:
            print(json.dumps(live.hear()))
        except Closed as closed:
            print(closed)


if __name__ == "__main__":
    main()
