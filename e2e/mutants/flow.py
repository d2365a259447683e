"""What a statement reads, writes and calls, as far as one file tells: whether two neighbours may change places unseen.

A location is a variable or a field of a type, whichever object it belongs to. A function of the same file counts with
its body. One of elsewhere may read whatever its arguments lead to, write what those lead to that it may write, and act
on the world when it may write anything. Whoever errs here, errs towards "the order may matter".
"""
import dataclasses
import re

ASSIGNS = re.compile(r"^([-+*/%&|^]|<<|>>)?=$")
# Their order tells nothing: room in memory, and what only watches.
ORDERLESS = re.compile(r"^(arena_\w+|mem_\w+|log_\w+|metrics?_\w+|assert_failed|__builtin_\w+)$")
# They change nothing but a variable that they are given for their result, or nothing but their arguments.
READS = re.compile(r"^(doc_(get|is|need|size)_?\w*|json_(string_value|integer_value|is_\w+|array_(get|size)|object_(get|size))|"
                   r"sqlite3_column_\w+|store_column_\w+|informer_(get|synced|list)|cache_get|map_(get|has)\w*|vec_at|"
                   r"loop_(now|wall)_\w+|time_\w+)$")
STAYS_HERE = re.compile(r"^((slice|text|quantity|sha256|hash|buf|map|vec|doc|json|condition|conditions|labels?|string_map|error|"
                        r"heap|go_put|owner|object_equal|duration|mem(cpy|set|move|cmp)|str\w*|snprintf|qsort)(_\w+|))$")
EQUALS = re.compile(r"text_equal\(([\w.>()\-]+), ([A-Z]\w*|\"[^\"]*\")\)|([\w.>\-]+) == ([A-Z]\w*)")


@dataclasses.dataclass
class Effects:
    reads: set = dataclasses.field(default_factory=set)   # locations
    writes: set = dataclasses.field(default_factory=set)
    lent: set = dataclasses.field(default_factory=set)    # types that functions of elsewhere may read through
    given: set = dataclasses.field(default_factory=set)   # and those that they may write
    acts: bool = False                                    # and so act on the world
    shows: bool = False                                   # writes more than variables of the function
    returns: bool = False                                 # it may end the function
    breaks: bool = False                                  # or jump within it: the round of a loop

    def add(self, other):
        self.reads |= other.reads
        self.writes |= other.writes
        self.lent |= other.lent
        self.given |= other.given
        self.acts = self.acts or other.acts
        self.shows = self.shows or other.shows


def bare(type_name):
    """`const struct x *[3]`: what it is in the end."""
    return re.sub(r"\b(const|volatile|restrict|register)\b|[*\[\]0-9]", "", type_name).strip()


def is_const_pointer(parameter):
    return re.search(r"\bconst\b[^*]*\*", parameter) is not None and parameter.count("*") == 1


def parameters_of(function_type):
    inside = function_type[function_type.index("(") + 1:function_type.rindex(")")]
    parts, depth, at = [], 0, 0
    for i, c in enumerate(inside):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(inside[at:i])
            at = i + 1
    return [p.strip() for p in [*parts, inside[at:]]]


def strip(node):
    while node.get("kind") in ("ImplicitCastExpr", "ParenExpr", "CStyleCastExpr") and node.get("inner"):
        node = node["inner"][-1]
    return node


class Flow:
    def __init__(self, tree):
        self.bodies, self.effects_of, self.records, self.aliases, self.field_type = {}, {}, {}, {}, {}
        self.known, self.globals = {}, set()
        for node in tree.get("inner", []):
            self.learn(node)

    def learn(self, node):
        kind = node.get("kind")
        if kind == "RecordDecl":
            self.learn_record(node)
        elif kind == "TypedefDecl":
            self.aliases[node["name"]] = node["type"].get("desugaredQualType", node["type"]["qualType"])
        elif kind == "FunctionDecl" and any(c.get("kind") == "CompoundStmt" for c in node.get("inner", [])):
            self.bodies[node["name"]] = node
        elif kind == "VarDecl":
            self.globals.add(node["id"])

    def learn_record(self, node):
        fields = [c for c in node.get("inner", []) if c.get("kind") == "FieldDecl"]
        for inner in node.get("inner", []):
            if inner.get("kind") == "RecordDecl":
                self.learn_record(inner)
        if not fields:
            return
        name = f"{node.get('tagUsed', 'struct')} {node['name']}" if node.get("name") else node["id"]
        self.records[name] = [(f["id"], f["type"].get("desugaredQualType", f["type"]["qualType"])) for f in fields]
        for f in fields:
            self.field_type[f["id"]] = name

    # ---- what a type leads to ----

    def led_to(self, type_name):
        """Records and plain types behind a pointer of a type; None when it can be anything."""
        if type_name in self.known:
            return self.known[type_name]
        seen, waiting, anything = set(), [bare(type_name)], False
        while waiting and not anything:
            name = bare(self.aliases.get(waiting[-1], waiting[-1]))
            waiting.pop()
            if name in seen:
                continue
            seen.add(name)
            if name == "void" or "(" in name or "union" in name or "anonymous" in name or "unnamed" in name:
                anything = True
            waiting += [bare(t) for _, t in self.records.get(name, []) if "(" not in t and bare(t) != "void"]
        self.known[type_name] = None if anything else frozenset(seen)
        return self.known[type_name]

    def touches(self, types, locations):
        """Whether something behind these types may be one of these locations."""
        for t in types:
            led = self.led_to(t)
            for where, what in locations:
                if where == "field" and (led is None or self.field_type.get(what) in led or what not in self.field_type):
                    return True
                if where == "type" and (led is None or what in led or "char" in what):
                    return True
                if where == "var" and what in self.globals:
                    return True
        return False

    def meet(self, some, others):
        if some & others:
            return True
        types = {w for k, w in some if k == "type"}, {w for k, w in others if k == "type"}
        return any(self.touches({t}, others) for t in types[0]) or any(self.touches({t}, some) for t in types[1])

    def depend(self, a, b):
        """Whether the order of two effects may matter."""
        if a.acts and b.acts:
            return True
        return any(self.meet(x.writes, y.reads | y.writes) or self.touches(x.given, y.reads | y.writes) or
                   self.touches(x.lent, y.writes) or self.meet_types(x.given, y.lent | y.given)
                   for x, y in ((a, b), (b, a)))

    def is_private(self, e):
        """Who leaves the function instead sees nothing of it."""
        return not e.acts and not e.shows

    def meet_types(self, given, lent):
        for g in given:
            for n in lent:
                one, other = self.led_to(g), self.led_to(n)
                if one is None or other is None or one & other:
                    return True
        return False

    # ---- effects ----

    def effects(self, node):
        e = Effects()
        self.visit(node, e, False)
        return e

    def function(self, name):
        if name not in self.effects_of:
            self.effects_of[name] = Effects()  # of a function within itself
            for child in self.bodies[name]["inner"]:
                if child.get("kind") == "CompoundStmt":
                    self.effects_of[name] = self.effects(child)
        return self.effects_of[name]

    def visit(self, node, e, loop):
        kind = node.get("kind")
        if not kind:
            return
        e.returns = e.returns or kind == "ReturnStmt"
        e.breaks = e.breaks or kind == "GotoStmt" or (kind in ("BreakStmt", "ContinueStmt") and not loop)
        if kind == "CallExpr":
            self.call(node, e, loop)
            return
        if kind in ("BinaryOperator", "CompoundAssignOperator") and ASSIGNS.match(node.get("opcode", "")):
            self.place(node["inner"][0], e, e.writes, loop)
            if kind == "CompoundAssignOperator":
                self.place(node["inner"][0], e, e.reads, loop)
            self.visit(node["inner"][1], e, loop)
            return
        if kind == "UnaryOperator" and node.get("opcode") in ("++", "--"):
            self.place(node["inner"][0], e, e.writes, loop)
            self.place(node["inner"][0], e, e.reads, loop)
            return
        if kind in ("DeclRefExpr", "MemberExpr", "ArraySubscriptExpr") or \
                (kind == "UnaryOperator" and node.get("opcode") == "*"):
            self.place(node, e, e.reads, loop)
            return
        if kind == "VarDecl" and node.get("inner"):
            e.writes.add(("var", node["id"]))
        loop = loop or kind in ("ForStmt", "WhileStmt", "SwitchStmt") or \
            (kind == "DoStmt" and node["inner"][-1].get("kind") != "ImplicitCastExpr" and not is_zero(node["inner"][-1]))
        for child in node.get("inner", []):
            self.visit(child, e, loop)

    def place(self, node, e, into, loop):
        """An expression that names a location; what leads to it is read."""
        node = strip(node)
        e.shows = e.shows or (into is e.writes and not self.is_local(node))
        kind = node.get("kind")
        inner = node.get("inner", [])
        if kind == "DeclRefExpr":
            declared = node["referencedDecl"]
            if declared["kind"] in ("VarDecl", "ParmVarDecl"):
                into.add(("var", declared["id"]))
        elif kind == "MemberExpr":
            into.add(("field", node["referencedMemberDecl"]))
            if is_record(node):
                into.add(("type", bare(self.named(node))))
            base = strip(inner[0])
            if not node.get("isArrow") and base.get("kind") == "DeclRefExpr" and into is e.writes:
                into.add(("var", base["referencedDecl"]["id"]))
            self.place(inner[0], e, e.reads, loop)
        elif kind == "ArraySubscriptExpr":
            into.add(("type", bare(self.named(node))))
            self.place(inner[0], e, e.reads, loop)
            base = strip(inner[0])
            if base.get("kind") in ("DeclRefExpr", "MemberExpr"):  # an array within a variable or an object
                self.place(inner[0], e, into, loop)
            self.visit(inner[1], e, loop)
        elif kind == "UnaryOperator" and node.get("opcode") == "*":
            into.add(("type", bare(self.named(node))))
            self.visit(inner[0], e, loop)
        else:
            self.visit(node, e, loop)

    def is_local(self, node):
        """A variable of a function, or a part of one."""
        node = strip(node)
        if node.get("kind") == "DeclRefExpr":
            declared = node["referencedDecl"]
            return declared["kind"] == "ParmVarDecl" or declared["id"] not in self.globals
        if node.get("kind") == "MemberExpr":
            return not node.get("isArrow") and self.is_local(node["inner"][0])
        if node.get("kind") == "ArraySubscriptExpr":
            base = strip(node["inner"][0])
            return "[" in base.get("type", {}).get("qualType", "") and self.is_local(base)
        return False

    def named(self, node):
        return node["type"].get("desugaredQualType", node["type"]["qualType"])

    def call(self, node, e, loop):
        inner = node["inner"]
        declared = strip(inner[0]).get("referencedDecl", {})
        name = declared.get("name", "")
        for argument in inner[1:]:
            self.argument(argument, e, loop)
        if name in self.bodies:
            e.add(self.function(name))
            # What is written through its parameters is known by the fields; what it is given for its own is not.
        if ORDERLESS.match(name) or name in self.bodies:
            self.writes_through(inner[1:], name, e)
            return
        if declared.get("kind") != "FunctionDecl":
            e.given.add("void *")
            e.acts = True
            self.visit(inner[0], e, loop)
            return
        parameters = parameters_of(declared["type"]["qualType"])
        for i, argument in enumerate(inner[1:]):
            taken = parameters[i] if i < len(parameters) and parameters[i] != "..." else self.named(argument)
            if "(" in taken:
                e.given.add("void *")
                e.acts = e.acts or name != "qsort"
            elif "*" in taken:
                self.hand_over(name, argument, taken, e)
            elif re.search(r"struct |union ", taken):
                e.lent.add(taken)

    def hand_over(self, name, argument, taken, e):
        self.pointed(argument, e, e.reads)
        if not is_const_pointer(taken):
            self.pointed(argument, e, e.writes)
            e.shows = e.shows or not (READS.match(name) or self.is_address_of_local(argument))
        if is_const_pointer(taken) or READS.match(name):
            e.lent.add(self.behind(argument, taken))
        else:
            e.given.add(self.behind(argument, taken))
            e.acts = e.acts or not STAYS_HERE.match(name)

    def is_address_of_local(self, argument):
        node = strip(argument)
        if node.get("kind") == "DeclRefExpr":
            return "[" in node["type"]["qualType"] and self.is_local(node)
        return node.get("kind") == "UnaryOperator" and node.get("opcode") == "&" and self.is_local(node["inner"][0])

    def behind(self, argument, taken):
        """Of a `void *` parameter the type of what is handed over counts."""
        return self.named(strip(argument)) if bare(taken) == "void" and strip(argument).get("type") else taken

    def argument(self, argument, e, loop):
        """`&x` is no read of x yet; what leads to it is read."""
        node = strip(argument)
        if node.get("kind") == "UnaryOperator" and node.get("opcode") == "&":
            self.place(node["inner"][0], e, set(), loop)
        else:
            self.visit(argument, e, loop)

    def pointed(self, argument, e, into):
        node = strip(argument)
        if node.get("kind") == "UnaryOperator" and node.get("opcode") == "&":
            self.place(node["inner"][0], e, into, False)
        elif node.get("kind") == "DeclRefExpr" and "[" in node["type"]["qualType"]:
            self.place(node, e, into, False)

    def writes_through(self, arguments, name, e):
        """`helper(&x)`: it may set the variable, whatever it calls it by."""
        if ORDERLESS.match(name):
            return
        for argument, parameter in zip(arguments, parameters_of(self.bodies[name]["type"]["qualType"])):
            if "*" in parameter:
                self.pointed(argument, e, e.reads)
                if not is_const_pointer(parameter):
                    self.pointed(argument, e, e.writes)
                    e.shows = e.shows or not self.is_address_of_local(argument)


def is_zero(node):
    return strip(node).get("kind") == "IntegerLiteral" and strip(node).get("value") == "0"


def is_record(node):
    return "*" not in node["type"]["qualType"] and re.search(r"\b(struct|union)\b", node["type"]["qualType"]) is not None


def exclude(one, other):
    """Two conditions of one value that is this or that: they never both hold."""
    said = []
    for condition in (one, other):
        links = [EQUALS.fullmatch(link.strip()) for link in condition.split("||")]
        if not all(links):
            return False
        said.append([(m.group(1) or m.group(3), m.group(2) or m.group(4)) for m in links])
    return len({what for what, _ in said[0] + said[1]}) == 1 and not {v for _, v in said[0]} & {v for _, v in said[1]}
