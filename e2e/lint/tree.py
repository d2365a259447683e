"""The project's C files, without comments and the contents of strings."""
import re
import subprocess

LAYERS = ["common/base", "common/loop", "common/json", "common/template", "common/net", "proto", "common/kube", "common/ctrl",
          "hub-agent", "member-agent", "kubectl-fleet", "e2e"]

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def files(*patterns):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *patterns], check=True,
                            capture_output=True, text=True).stdout.split("\n")
    for path in sorted(set(filter(None, listed))):
        try:
            with open(path, encoding="utf-8", errors="replace") as f:
                yield path, f.read()
        except FileNotFoundError:
            pass  # removed, not yet committed


def layer_of(path):
    for layer in LAYERS:
        if path.startswith(layer + "/"):
            return layer
    return None


def code_only(text):
    """Comments and strings blanked, line numbers kept."""
    def blank(m):
        token = m.group(0)
        if token[0] in "\"'":
            return token[0] * 2
        return "\n" * token.count("\n")
    return TOKEN.sub(blank, text)
