"""Lists and unwinds the parked fibers of a process or core:
    gdb -p PID -x e2e/gdb-fibers.py -ex fibers
    fibers        one line for each: name, group, state, deadline
    fibers bt     with the stack of each
    fibers bt NAME  only those of that name
The loop is found in the frames of the thread that runs it."""
import gdb

# Offsets of what context_switch leaves on a suspended stack (common/loop/switch.c, struct saved_registers).
SAVED = ["r15", "r14", "r13", "r12", "rbx", "rbp"]


def find_loop():
    for thread in gdb.selected_inferior().threads():
        thread.switch()
        frame = gdb.newest_frame()
        while frame is not None:
            if frame.name() in ("loop_run", "run", "real_poll", "resume", "fiber_run_ready"):
                for symbol in ("l", "f"):
                    try:
                        value = frame.read_var(symbol)
                        if value.is_optimized_out or int(value) == 0:
                            continue
                        return value if symbol == "l" else value["loop"]
                    except (ValueError, gdb.error):
                        continue
            frame = frame.older()
    raise gdb.GdbError("no thread is in loop_run, or its loop was optimised out")


def fibers(loop):
    head = loop["fibers"].address
    fiber_type = gdb.lookup_type("struct fiber")
    offset = next(f.bitpos // 8 for f in fiber_type.fields() if f.name == "all")
    node = loop["fibers"]["next"]
    while node != head:
        address = int(node) - offset
        yield gdb.Value(address).cast(fiber_type.pointer())
        node = node["next"]


def state(fiber, loop):
    if fiber == loop["current"]:
        return "running"
    words = ["ready" if fiber["queued"] else "parked"]
    if fiber["cancelled"]:
        words.append("cancelled" + (" (masked)" if fiber["masked"] else ""))
    if fiber["deadline"]["armed"]:
        words.append("until +%d ms" % (int(fiber["deadline"]["at_ms"]) - int(loop["now_ms"])))
    return ", ".join(words)


def unwind(fiber):
    """Shows the stack by lending the fiber's registers to the selected thread for a moment."""
    words = gdb.lookup_type("unsigned long").pointer()
    sp = int(fiber["context"]["sp"])
    saved = gdb.Value(sp).cast(words)
    values = {name: int(saved[i]) for i, name in enumerate(SAVED)}
    values["rip"] = int(saved[len(SAVED)])
    values["rsp"] = sp + 8 * (len(SAVED) + 1)
    gdb.newest_frame().select()
    kept = {name: int(gdb.parse_and_eval("(unsigned long)$" + name)) for name in values}
    try:
        for name, value in values.items():
            gdb.execute("set $%s = %d" % (name, value))
        gdb.execute("bt")
    finally:
        for name, value in kept.items():
            gdb.execute("set $%s = %d" % (name, value))


class Fibers(gdb.Command):
    """fibers [bt [NAME]]: list the loop's fibers."""

    def __init__(self):
        super().__init__("fibers", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        words = argument.split(maxsplit=1)
        loop = find_loop().dereference()
        n = 0
        for fiber in fibers(loop):
            name = fiber["name"].string()
            if len(words) > 1 and name != words[1]:
                continue
            n += 1
            print("%s  group %s  %s" % (name, fiber["group"]["name"].string(), state(fiber, loop)))
            if words and words[0] == "bt" and fiber != loop["current"]:
                unwind(fiber)
        print("%d fibers" % n)


Fibers()
