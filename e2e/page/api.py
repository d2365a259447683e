"""An API server as a test speaks to it: kept connections with the credential of a kubeconfig, a watch to wait by."""
import base64
import concurrent.futures
import http.client
import json
import os
import queue
import socket
import ssl
import subprocess
import time

from devtools import Failure, Timeout

GROUPS = {
    "memberclusters": "apis/cluster.kubernetes-fleet.io/v1beta1",
    "namespaces": "api/v1",
    **{kind: "apis/placement.kubernetes-fleet.io/v1beta1" for kind in
       ("clusterresourceplacements", "clusterresourcebindings", "clusterresourcesnapshots", "clusterschedulingpolicysnapshots",
        "clusterstagedupdateruns", "clusterstagedupdatestrategies", "clusterapprovalrequests")},
}
MERGE = "application/merge-patch+json"


def collection(kind, namespace=None):
    """The path of a kind's objects, of those that are named above."""
    return f"/{GROUPS[kind]}/{f'namespaces/{namespace}/' if namespace else ''}{kind}"


class Connection(http.client.HTTPSConnection):
    """One that does not wait for more before it sends."""

    def connect(self):
        super().connect()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def ask(connection, asked):
    """The answer and all that it says."""
    connection.request(*asked)
    answer = connection.getresponse()
    return answer, answer.read()


class Api:
    """The server of one context of a kubeconfig. `folder` is a private one, for its key."""

    def __init__(self, kubeconfig, context, folder):
        config = json.loads(subprocess.run(["kubectl", "--kubeconfig", kubeconfig, "--context", context, "config", "view", "--raw",
                                            "--minify", "-o", "json"], check=True, capture_output=True, text=True).stdout)
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        address, _, self.base = cluster["server"].removeprefix("https://").partition("/")
        self.host, _, self.port = address.partition(":")
        self.base = "/" + self.base if self.base else ""
        self.tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        self.headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        if "client-key-data" in user:
            self._key(user, os.path.join(folder, f"{context}.pem"))
        self.free = queue.LifoQueue()

    def _key(self, user, path):
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as f:
            f.write(base64.b64decode(user["client-certificate-data"]) + b"\n" + base64.b64decode(user["client-key-data"]))
        self.tls.load_cert_chain(path)
        os.unlink(path)

    def _connection(self, timeout=600):
        return Connection(self.host, int(self.port), context=self.tls, timeout=timeout)

    def request(self, method, path, body=None, kind="application/json"):
        """Sends a document and returns the answer's. Failure tells what the server said."""
        headers = {**self.headers, "Accept": "application/json", "Content-Type": kind}
        asked = method, self.base + path, None if body is None else json.dumps(body), headers
        try:
            connection = self.free.get_nowait()
        except queue.Empty:
            connection = self._connection()
            answer, said = ask(connection, asked)
        else:
            try:
                answer, said = ask(connection, asked)
            except OSError:  # a server closes what was not used for long: it has not read this
                connection.close()
                connection = self._connection()
                answer, said = ask(connection, asked)
        self.free.put(connection)
        if answer.status >= 400:
            raise Failure(f"{method} {path}: {answer.status} {message(said)}")
        return json.loads(said) if said else None

    def get(self, path):
        return self.request("GET", path)

    def create(self, kind, document, namespace=None):
        return self.request("POST", collection(kind, namespace), document)

    def patch(self, path, document):
        return self.request("PATCH", path, document, MERGE)

    def put(self, kind, document):
        """Creates an object, and its status where it has one. `kind` is the plural."""
        path = collection(kind)
        self.request("POST", path, document)
        if "status" in document:
            self.patch(f"{path}/{document['metadata']['name']}/status", {"status": document["status"]})

    def put_all(self, kind, documents, connections=8):
        """The same for many, over several connections."""
        with concurrent.futures.ThreadPoolExecutor(connections) as pool:
            for _ in pool.map(lambda d: self.put(kind, d), documents):
                pass

    def wait(self, path, holds, what, timeout=600):
        """Waits until holds(objects) is true of a collection, a dictionary by name (with namespace/ where there is one).
        Looks at each event of a watch; returns what holds() returned."""
        deadline = time.monotonic() + timeout
        listed = self.get(path)
        objects = {full_name(o): o for o in listed["items"]}
        connection = self._connection(timeout)
        try:
            mark = "&" if "?" in path else "?"
            connection.request("GET", f"{self.base}{path}{mark}watch=true&resourceVersion={listed['metadata']['resourceVersion']}",
                               headers=self.headers)
            events = connection.getresponse()
            while not (found := holds(objects)):
                self._event(connection, events, objects, deadline)
            return found
        except TimeoutError:
            raise Timeout(f"waited {timeout:g} s for {what}; {path} has {summary(objects)}") from None
        finally:
            connection.close()

    def _event(self, connection, events, objects, deadline):
        """Takes one event in."""
        connection.sock.settimeout(max(0.001, deadline - time.monotonic()))
        line = events.readline()
        if not line:
            raise Failure("the server ended a watch")
        event = json.loads(line)
        if event["type"] == "ERROR":
            raise Failure(f"a watch failed: {event['object'].get('message')}")
        if event["type"] == "DELETED":
            objects.pop(full_name(event["object"]), None)
        elif event["type"] != "BOOKMARK":
            objects[full_name(event["object"])] = event["object"]

    def close(self):
        while not self.free.empty():
            self.free.get().close()


def full_name(o):
    namespace = o["metadata"].get("namespace")
    return f"{namespace}/{o['metadata']['name']}" if namespace else o["metadata"]["name"]


def message(said):
    try:
        return json.loads(said).get("message", said.decode(errors="replace"))
    except ValueError:
        return said.decode(errors="replace")[:200]


def condition(o, kind):
    """The status of a condition of an object, or None."""
    return next((c["status"] for c in o.get("status", {}).get("conditions", []) if c["type"] == kind), None)


def summary(objects):
    """Objects with their conditions, in short."""
    if not objects:
        return "nothing"
    words = [name + " (" + ", ".join(f"{c['type']}={c['status']}" for c in o.get("status", {}).get("conditions", [])) + ")"
             for name, o in list(objects.items())[:5]]
    return "; ".join(words) + (f" and {len(objects) - 5} more" if len(objects) > 5 else "")
