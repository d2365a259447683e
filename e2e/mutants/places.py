"""Where in a C file a small bug can be planted, and what the file looks like with it.

clang says what each piece of the text is (its syntax tree as JSON, with byte offsets); the text itself is cut by tokens.
A place is one edit: bytes START to END replaced by TEXT. Nothing here depends on anything but the file and its headers.

No places are: memory that runs out (every allocation is failed in turn by tests of its own), what frees (sanitizers and
leak checks watch that), and what is only said: logs, metrics, texts of errors.
"""
import bisect
import dataclasses
import hashlib
import json
import os
import re
import subprocess

import flow

KINDS = {  # what is done to the code: how often one such place is taken, of as many
    "condition turned": 0.6,
    "condition dropped": 1.0,
    "branch left out": 0.7,
    "comparison moved": 1.0,
    "constant off by one": 0.7,
    "flag dropped": 2.0,
    "call left out": 1.5,
    "assignment left out": 0.8,
    "statements swapped": 1.5,
    "early return": 0.4,
}

TOKEN = re.compile(r"""(?P<skip>\s+|\\\n|//[^\n]*|/\*.*?\*/)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[A-Za-z_]\w*|\.?\d[\w.]*"""
                   r"""|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.""", re.S)
SPEAKS = re.compile(r"^(log_\w+|error_(set|wrap|errno|no_memory|set_reason|clear)|metrics?_\w+|event_\w+|assert_failed|"
                    r"connection_metrics_\w+)$")
FREES = re.compile(r"(^|_)(free|unref|clear|reset|decref|mem_free|sqlite3_finalize|EVP_\w+_free)$|^vec_free$")
BINDS = re.compile(r"^(sqlite3|store)_bind_\w+$")  # parameters of one statement, each by its number
YIELDS = re.compile(r"TRY\((\w+_)?yield\([\w>.\-]*\)\)$")
SPARES = re.compile(r"^(mem_trim|yield|sqlite3_db_config|map_init)$")  # time or memory, and nothing else
FAULTS = re.compile(r"(?:FAULT|fault_add)\(\s*(\w+),.*\)|\w+_faults\(.*\b(\w+)\)", re.S)
NO_MEMORY = re.compile(r"no_memory|NO_MEMORY")
ALLOCATES = re.compile(r"\b(arena_\w+|ARENA_NEW\w*|NEW|mem_\w+|vec_(push|reserve)|map_put\w*|buf_\w+|json_\w+|"
                       r"doc_(new|copy|object|array|string)\w*|\w+_(copy|dup|new|clone|printf))\(")
LEAVES_EMPTY = re.compile(r"^(\{\s*)?(return\s*(NULL|false|-1|failed\([^;]*\)|ERR_\w+)?|continue|break)\s*;(\s*\})?$")
COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CONSTANT_MAX = 999  # beyond stand sizes and times, of which one more or less is no bug


@dataclasses.dataclass(frozen=True)
class Place:
    file: str
    function: str
    line: int
    kind: str
    start: int
    end: int
    text: str
    id: str = ""

    def planted(self, source):
        """What stands behind keeps its line: assertions name theirs, and code is compared byte for byte."""
        lines = source.count("\n", self.start, self.end) - self.text.count("\n")
        return source[:self.start] + self.text + "\n" * lines + source[self.end:]


class Tokens:
    def __init__(self, source):
        self.source = source
        self.spans = [m.span() for m in TOKEN.finditer(source) if not m.group("skip")]
        self.starts = [s for s, _ in self.spans]

    def at(self, offset):
        """Index of the token that begins there, or None."""
        i = bisect.bisect_left(self.starts, offset)
        return i if i < len(self.starts) and self.starts[i] == offset else None

    def text(self, i):
        start, end = self.spans[i]
        return self.source[start:end]

    def call_end(self, i):
        """Where the macro use that begins with token i ends: with its closing parenthesis, if it has any."""
        if i + 1 >= len(self.spans) or self.text(i + 1) != "(":
            return self.spans[i][1]
        return self.spans[self.match(i + 1)][1]

    def match(self, i):
        depth = 0
        for k in range(i, len(self.spans)):
            token = self.text(k)
            depth += (token in "([{") - (token in ")]}")
            if depth == 0:
                return k
        raise ValueError("unbalanced")

    def semicolon(self, offset):
        """End of the semicolon that is the next token at or behind an offset, or None."""
        i = bisect.bisect_left(self.starts, offset)
        return self.spans[i][1] if i < len(self.spans) and self.text(i) == ";" else None


def in_main(location):
    return "offset" in location and "includedFrom" not in location


class Finder:
    def __init__(self, file, source, tree):
        self.file, self.source, self.tokens, self.flow = file, source, Tokens(source), flow.Flow(tree)
        self.function, self.found, self.result, self.compares = None, {}, None, False

    # ---- from nodes to bytes ----

    def bound(self, location, is_end):
        """(offset, whether it stands for a whole macro use), or None."""
        if "expansionLoc" in location:
            spelling, expansion = location["spellingLoc"], location["expansionLoc"]
            if expansion.get("isMacroArgExpansion"):
                return (spelling["offset"] + (spelling["tokLen"] if is_end else 0), False) if in_main(spelling) else None
            if not in_main(expansion):
                return None
            i = self.tokens.at(expansion["offset"])
            if i is None:
                return None
            return (self.tokens.call_end(i) if is_end else expansion["offset"], True)
        if not in_main(location):
            return None
        return location["offset"] + (location["tokLen"] if is_end else 0), False

    def span(self, node):
        extent = node.get("range", {})
        begin, end = self.bound(extent.get("begin", {}), False), self.bound(extent.get("end", {}), True)
        if begin is None or end is None or begin[0] >= end[0] or self.tokens.at(begin[0]) is None:
            return None
        return begin[0], end[0]

    def text(self, span):
        return self.source[span[0]:span[1]]

    def statement_span(self, node):
        """With its semicolon or closing brace."""
        span = self.span(node)
        if span is None or self.text(span).endswith("}"):
            return span
        end = self.tokens.semicolon(span[1])
        return (span[0], end) if end else None

    # ---- places ----

    def add(self, kind, span, text):
        if span is None or self.function is None:
            return
        place = Place(self.file, self.function, self.source.count("\n", 0, span[0]) + 1, kind, *span, text)
        self.found.setdefault((place.start, place.end, place.text), place)

    def walk(self, node, parent_span=None):
        kind = node.get("kind")
        visit = getattr(self, "visit_" + kind, None) if kind else None
        span = self.span(node) if "range" in node else None
        # Within a macro's own text every node would stand for the whole use.
        inside_macro = span is not None and span == parent_span and "expansionLoc" in node["range"]["begin"]
        if visit and span and not inside_macro:
            children = visit(node, span)
        else:
            children = None
        for child in node.get("inner", []) if children is None else children:
            if child.get("kind"):
                self.walk(child, span or parent_span)

    def visit_CallExpr(self, node, span):
        return [] if SPEAKS.match(callee(node)) else None

    def visit_ReturnStmt(self, node, span):
        """Of a code only the sign counts."""
        text = self.text(span)
        return [] if (NO_MEMORY.search(text) and "?" not in text) or re.fullmatch(r"return \d+", text) else None

    def visit_IfStmt(self, node, span):
        condition, then, *other = node["inner"]
        inside, then_span = self.span(condition), self.statement_span(then)
        if inside is None or then_span is None:
            return None
        if self.is_out_of_memory(inside, then_span):
            return other
        if self.is_speech(then):
            return other
        self.add("condition turned", inside, f"!({self.text(inside)})")
        self.add("branch left out", inside, "0")
        self.add("condition dropped", inside, "1")
        return None

    def is_out_of_memory(self, condition, then):
        if NO_MEMORY.search(self.text(then)) or "NO_MEMORY" in self.text(condition):
            return True
        if not LEAVES_EMPTY.match(self.text(then)):
            return False
        text = self.text(condition)
        if ALLOCATES.search(text) or re.fullmatch(r"\w+->failed", text):  # of a buffer
            return True
        return any(self.comes_from_allocation(name, condition[0])
                   for name in re.findall(r"!\s*\(?\*?([A-Za-z_][\w.>\-]*)", text))

    def comes_from_allocation(self, name, offset):
        before = self.source[max(0, offset - 600):offset]
        given = [m.end() for m in re.finditer(r"(?<![\w.>])" + re.escape(name) + r"\s*=(?!=)", before)]
        return bool(given) and ALLOCATES.search(before[given[-1]:].split(";")[0]) is not None

    def is_allocated(self, span):
        """The condition is whether there was memory."""
        name = re.fullmatch(r"!?([A-Za-z_][\w.>\-]*)", self.text(span))
        return name is not None and self.comes_from_allocation(name.group(1), span[0])

    def visit_ConditionalOperator(self, node, span):
        condition, yes, no = node["inner"]
        if NO_MEMORY.search(self.text(span)):
            return []
        inside = self.span(condition)
        if inside and self.span(yes) and self.span(no):
            self.add("condition turned", inside, f"!({self.text(inside)})")
        if self.result == " 0" and self.source[:span[0]].endswith("return "):  # of a code only the sign counts
            return [n for n in (condition, yes, no) if n["kind"] != "IntegerLiteral"]
        return None

    def visit_BinaryOperator(self, node, span):
        left, right = (self.span(n) for n in node["inner"])
        opcode = node["opcode"]
        if left is None or right is None or not left[1] <= right[0]:
            return None
        if opcode in ("&&", "||", "|"):
            # Of a chain one link: the others are dropped at the nodes below.
            kind = "flag dropped" if opcode == "|" else "condition dropped"
            if not self.is_allocated(right):
                self.add(kind, span, self.text(left))
            if node["inner"][0].get("opcode") != opcode and not self.is_allocated(left):
                self.add(kind, span, self.text(right))
        if opcode == "||":
            self.swap_steps(node, right)
        if opcode in COMPARISONS and not self.cannot_tie(left, right):
            at = self.source.find(opcode, left[1], right[0])
            between = self.tokens.at(at) if at >= 0 else None
            if between is not None and self.tokens.text(between) == opcode:
                self.add("comparison moved", (at, at + len(opcode)), COMPARISONS[opcode])
        return None

    def cannot_tie(self, left, right):
        """`if (x != y) return x < y ? -1 : 1;`, and the smaller of two: where the two are equal it is all the same."""
        a, b = self.text(left), self.text(right)
        guard = re.search(r"if \((.*)\)\s*return $", self.source[max(0, left[0] - 300):left[0]].rsplit(";", 1)[-1], re.S)
        if guard and " ".join(guard.group(1).split()) == " ".join(f"{a} != {b}".split()):
            return True
        chosen = re.match(r" \? (.*?) : (.*?)[;,)]", self.source[right[1]:], re.S)
        return chosen is not None and {chosen.group(1), chosen.group(2)} == {a, b}

    def swap_steps(self, node, second):
        """`first(x) < 0 || second(x) < 0`: steps that are done one after another until one fails."""
        before = node["inner"][0]
        first = self.span(before["inner"][1] if before.get("opcode") == "||" else before)
        if first and all(re.match(r"\w+\(.*\) < 0$", self.text(s), re.S) for s in (first, second)) and \
                not any(NO_MEMORY.search(self.text(s)) or ALLOCATES.search(self.text(s)) for s in (first, second)):
            self.add("statements swapped", (first[0], second[1]),
                     self.text(second) + self.source[first[1]:second[0]] + self.text(first))

    def visit_IntegerLiteral(self, node, span):
        text = self.text(span)
        if text in ("true", "false"):
            self.add("condition turned", span, "false" if text == "true" else "true")
        elif re.fullmatch(r"\d+", text) and int(text) <= CONSTANT_MAX and not self.is_time(span) and \
                not self.is_room(span) and \
                not self.source[:span[0]].endswith(" < "):  # that is a comparison moved
            if not (text == "1" and self.compares):  # of such a function only the sign counts
                self.add("constant off by one", span, str(int(text) + 1))
            if int(text) > 0:
                self.add("constant off by one", span, str(int(text) - 1))
        return None

    def is_time(self, span):
        """A factor of a time or size, or a macro that has one in its name: one more or less is no bug."""
        line = self.source[self.source.rfind("\n", 0, span[0]) + 1:].split("\n")[0]
        if re.match(r"#define\s+\w*(_MS|_S|_SECONDS|MINUTES?|BYTES|KIB|MIB)\b", line):
            return True
        return re.match(r"\s*\*\s*(1000|1024|\w*(_MS|MINUTE|SECOND|HOUR|KIB|MIB))", self.source[span[1]:]) is not None

    def is_room(self, span):
        """How much is allocated: one more is room that nobody uses, one less is for sanitizers to see."""
        return re.search(r"\b(ARENA_NEW_ARRAY|arena_calloc|arena_alloc|mem_alloc|mem_calloc|buf_init)\([^;{}]*$",
                         self.source[max(0, span[0] - 200):span[0]]) is not None

    def visit_InitListExpr(self, node, span):
        """`{ 0 }` is how an object begins empty, no number."""
        return [c for c in node.get("inner", []) if c.get("kind") != "IntegerLiteral" and
                not (c.get("kind") == "ImplicitCastExpr" and c["inner"][0].get("kind") == "IntegerLiteral")]

    def visit_WhileStmt(self, node, span):
        return [c for c in node["inner"] if self.text(self.span(c) or (0, 0)) not in ("true", "1")]

    # ---- statements ----

    def visit_CompoundStmt(self, node, span):
        statements = node.get("inner", [])
        for i, statement in enumerate(statements):
            self.leave_out(statement)
            if i > 0:
                self.swap(statements[i - 1], statement)
                self.return_early(statement)
        return None

    def leave_out(self, statement):
        span, whole = self.span(statement), self.statement_span(statement)
        if not span or not whole or self.is_speech(statement):
            return
        kind = statement["kind"]
        text = self.text(span)
        if kind == "CallExpr" or (kind == "DoStmt" and text.startswith("TRY(")):
            self.add("call left out", whole, "{ }")
        elif (kind in ("BinaryOperator", "CompoundAssignOperator") and statement.get("opcode", "").endswith("=")) or \
                (kind == "UnaryOperator" and statement.get("opcode") in ("++", "--")):
            self.add("assignment left out", whole, "{ }")

    def is_speech(self, statement):
        if statement["kind"] == "CompoundStmt":
            inner = statement.get("inner", [])
            return bool(inner) and all(self.is_speech(s) for s in inner)
        if statement["kind"] == "BinaryOperator":  # `x = x_free(x)`
            call = re.match(r"[\w.>\-]+ = (\w+)\(", self.text(self.span(statement) or (0, 0)))
            return bool(call and FREES.search(call.group(1)))
        if statement["kind"] != "CallExpr":
            text = self.text(self.span(statement) or (0, 0))
            return bool(re.match(r"vec_free\(|\(void\)", text) or YIELDS.match(text))
        name = callee(statement)
        return bool(SPEAKS.match(name) or FREES.search(name) or SPARES.match(name))

    def acts(self, statement):
        """Whether its place among others may matter: it calls something, or decides."""
        span = self.span(statement)
        if not span or self.is_speech(statement) or NO_MEMORY.search(self.text(span)):
            return False
        if statement["kind"] == "IfStmt":  # `if (code < 0) return code;` belongs to what it stands behind
            return len(statement["inner"]) == 2 and not re.match(r"if \(\w+ < 0\)", self.text(span))
        text = self.text(span)
        if statement["kind"] == "BinaryOperator" and not re.search(r"\w\(", text):
            return False  # parentheses and casts alone call nothing
        return statement["kind"] in ("CallExpr", "DoStmt", "BinaryOperator") and "(" in text and \
            not ALLOCATES.search(text)

    def swap(self, first, second):
        if not self.acts(first) or not self.acts(second):
            return
        if self.called_by(first) == self.called_by(second) != "":
            return  # the same for two things: the order seldom matters
        a, b = self.statement_span(first), self.statement_span(second)
        if a and b and a[1] <= b[0] and not self.guards(first, second) and self.order_matters(first, second):
            self.add("statements swapped", (a[0], b[1]), self.text(b) + self.source[a[1]:b[0]] + self.text(a))

    def called_by(self, statement):
        text = self.text(self.span(statement))
        called = re.match(r"(?:TRY\()?(\w+)\(", text) if statement["kind"] in ("CallExpr", "DoStmt") else None
        name = called.group(1) if called else ""
        return "bind" if BINDS.match(name) else "doc_set" if name.startswith("doc_set_") else name

    def order_matters(self, first, second):
        """One writes what the other reads or writes, or both may act on the world; or one is not done when the other
        leaves; or both leave, each with a result of its own."""
        a, b = self.flow.effects(first), self.flow.effects(second)
        ifs = first["kind"] == second["kind"] == "IfStmt"
        if self.says_words(first, second) or (ifs and flow.exclude(*(self.text(self.span(s["inner"][0])) for s in (first, second)))):
            return False
        if self.flow.depend(a, b) or a.breaks or b.breaks:
            return True
        if first["kind"] == "IfStmt" and (a.returns or a.breaks) and self.needs(first, second):
            return True
        if a.returns and b.returns:
            return not ifs or self.text(self.span(first["inner"][1])) != self.text(self.span(second["inner"][1]))
        return (a.returns and not self.flow.is_private(b)) or (b.returns and not self.flow.is_private(a))

    def says_words(self, first, second):
        """Both add to one list of faults, or to a text that becomes an error's."""
        listed = [self.list_of_faults(s) for s in (first, second)]
        if listed[0] and listed[0] == listed[1]:
            return True
        if not first["kind"] == second["kind"] == "IfStmt":
            return False
        said = [re.fullmatch(r"buf_append_\w+\(\s*&(\w+),.*\)", self.text(self.span(s["inner"][1])), re.S)
                for s in (first, second)]
        return all(said) and said[0].group(1) == said[1].group(1) and \
            re.search(r"error_set\([^;]*\b" + said[0].group(1) + r"\.data", self.source[self.span(second)[1]:].split("\n}\n")[0]) is not None

    def list_of_faults(self, statement):
        """What `fault_add(f, ...)`, or `x_faults(..., f)`, adds to, alone or behind a condition that does not ask the list."""
        condition, then = statement["inner"][:2] if statement["kind"] == "IfStmt" else (None, statement)
        said = FAULTS.fullmatch(self.text(self.span(then) or (0, 0)))
        name = (said.group(1) or said.group(2)) if said else None
        asks = condition and re.search(r"\b" + name + r"\b", self.text(self.span(condition))) if name else None
        return None if asks else name

    def guards(self, first, second):
        """`if (!x) return; x->y` the other way round is no bug that anybody makes; of two refusals it decides only which
        words are said."""
        if first["kind"] != "IfStmt" and second["kind"] != "IfStmt":
            return False
        codes = [self.refusal(s) for s in (first, second)]
        if codes[0] and codes[0] == codes[1] and not self.depends(first, second):
            return True
        return self.is_out_of_memory_statement(first) or self.is_out_of_memory_statement(second)

    def refusal(self, node):
        """The code of `if (x) return error_set(err, CODE, ...);`, or None."""
        then = self.span(node["inner"][1]) if node["kind"] == "IfStmt" else None
        said = re.match(r"return error_set\(\s*[\w>.\-]+,\s*(\w+),", self.text(then)) if then else None
        return said.group(1) if said else None

    def depends(self, first, second):
        return self.needs(first, second["inner"][0])

    def needs(self, first, second):
        """This may be done only once the first condition has been asked: it reads what that one found missing, or set."""
        one, other = self.text(self.span(first["inner"][0])), self.text(self.span(second))
        missing = re.findall(r"(?:!|\btext_empty\()([A-Za-z_][\w.>\-]*)(?![\w(])", one)
        return " = " in one or re.search(r"(?<!&)&(?!&)|NULL", one) is not None or \
            any(re.search(r"(?<![\w.>])" + re.escape(name) + r"\b", other) for name in missing)

    def is_out_of_memory_statement(self, node):
        if node["kind"] != "IfStmt":
            return False
        inside, then = self.span(node["inner"][0]), self.statement_span(node["inner"][1])
        return not inside or not then or self.is_out_of_memory(inside, then)

    def return_early(self, statement):
        span = self.statement_span(statement)
        if not span or statement["kind"] in ("DeclStmt", "ReturnStmt", "BreakStmt", "ContinueStmt", "NullStmt"):
            return
        if self.is_speech(statement) or self.is_out_of_memory_statement(statement):
            return
        if statement["kind"] == "UnaryOperator":
            return
        self.add("early return", (span[0], span[0]), f"return{self.result}; ")

    # ---- functions and tables ----

    def top(self, node):
        if node.get("kind") == "VarDecl" and "inner" in node:
            self.function = node.get("name")
            self.flags_of(node)
        elif node.get("kind") == "FunctionDecl":
            name = node.get("name", "")
            body = [c for c in node.get("inner", []) if c.get("kind") == "CompoundStmt"]
            if body and not FREES.search(name) and "register_metrics" not in name:
                self.function, self.result = name, empty_result(node["type"]["qualType"])
                self.compares = node["type"]["qualType"] == "int (const void *, const void *)"  # for qsort
                self.walk(body[0])
        self.function = None

    def flags_of(self, node):
        if node.get("kind") == "BinaryOperator" and node.get("opcode") == "|":
            span = self.span(node)
            if span:
                self.visit_BinaryOperator(node, span)
        for child in node.get("inner", []):
            self.flags_of(child)


def callee(node):
    inner = node.get("inner") or [{}]
    while inner[0].get("kind") in ("ImplicitCastExpr", "ParenExpr"):
        inner = inner[0].get("inner") or [{}]
    return inner[0].get("referencedDecl", {}).get("name") or inner[0].get("name") or ""


def empty_result(function_type):
    result = function_type[:function_type.index("(")].strip()
    if result == "void":
        return ""
    if result.endswith("*"):
        return " NULL"
    if result in ("bool", "_Bool"):
        return " false"
    if result.startswith("struct"):
        return f" ({result}){{ 0 }}"
    return " 0"


def with_ids(places, source):
    """An id stays while the function around it and its own text do, wherever else the file changes."""
    seen = {}
    named = []
    for p in sorted(places, key=lambda p: (p.start, p.end, p.kind, p.text)):
        old = " ".join(source[p.start:p.end].split())
        line = " ".join(source[source.rfind("\n", 0, p.start) + 1:].split("\n")[0].split())
        key = (p.file, p.function, p.kind, old, line, " ".join(p.text.split()))
        seen[key] = seen.get(key, 0) + 1
        digest = hashlib.sha256("|".join((*key, str(seen[key]))).encode("latin-1")).hexdigest()
        named.append(dataclasses.replace(p, id=digest[:10]))
    return named


def places_of(file, source, flags, cwd="."):
    """All places of a file; `source` is its text read as Latin-1, so that a character is a byte."""
    said = subprocess.run(["clang", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", *flags, file], cwd=cwd,
                          env={**os.environ, "CCACHE_DISABLE": "1"}, check=True, capture_output=True).stdout
    tree = json.loads(said)
    finder = Finder(file, source, tree)
    for node in tree.get("inner", []):
        if in_main(node.get("loc", {})) and "includedFrom" not in node.get("range", {}).get("begin", {}):
            finder.top(node)
    return with_ids(finder.found.values(), source)
