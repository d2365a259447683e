"""Whether a page can be used by everybody: names of what can be operated, headings and landmarks, the order of the focus
and that one sees it, contrast (WCAG 2 AA) in light and dark. Each function returns what is wrong, as sentences."""
OPERATED = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "switch", "slider", "spinbutton",
            "menuitem", "menuitemcheckbox", "menuitemradio", "tab", "option", "listbox", "treeitem", "tree", "grid", "dialog",
            "alertdialog", "image", "img", "progressbar", "meter", "Iframe"}
LANDMARKS = {"banner", "complementary", "contentinfo", "form", "main", "navigation", "region", "search"}


def tree(page):
    """The accessibility tree as assistive programs get it: a list of nodes, in order, without what is left out for them."""
    return [n for n in page.call("Accessibility.getFullAXTree")["nodes"] if not n["ignored"]]


def role(node):
    return node.get("role", {}).get("value", "")


def name(node):
    return str(node.get("name", {}).get("value", "")).strip()


def prop(node, key):
    return next((p["value"].get("value") for p in node.get("properties", []) if p["name"] == key), None)


def told(page, node):
    """An element as one would tell of it: its tag with its attributes."""
    found = page.call("DOM.describeNode", {"backendNodeId": node["backendDOMNodeId"]})["node"]
    words = iter(found.get("attributes", []))
    attributes = "".join(f' {key}="{value[:60]}"' for key, value in zip(words, words))
    return f"<{found['localName'] or found['nodeName']}{attributes}>"


def unnamed(page):
    """What can be operated, or is a picture, and says nothing of itself."""
    return [f"{told(page, n)}, a {role(n)}, has no name" for n in tree(page) if role(n) in OPERATED and not name(n)]


def headings(page):
    """(level, text) of each."""
    return [(prop(n, "level"), name(n)) for n in tree(page) if role(n) == "heading"]


def landmarks(page):
    """(role, name) of each."""
    return [(role(n), name(n)) for n in tree(page) if role(n) in LANDMARKS]


def structure(page):
    """Landmarks, headings, language, title, ids, and that nothing is wider than the window."""
    found = page.rig("structure")
    marks = landmarks(page)
    mains = sum(1 for r, _ in marks if r == "main")
    if mains != 1:
        found.append(f"there are {mains} main landmarks, not one")
    found += [f"two landmarks are {r} {n!r}" for r, n in sorted(set(marks)) if marks.count((r, n)) > 1]
    levels = [level for level, _ in headings(page)]
    if levels.count(1) != 1:
        found.append(f"there are {levels.count(1)} headings of level 1, not one")
    found += [f"after a heading of level {a} comes one of level {b}: {headings(page)[i + 1][1]!r}"
              for i, (a, b) in enumerate(zip(levels, levels[1:])) if b > a + 1]
    return found


def tab_order(page, limit=200, back=False):
    """What has the focus as Tab is pressed, from nothing until it comes round: name, selector, seen, inside of each."""
    page.rig("unfocused")
    order = []
    for time in range(limit + 1):
        page.press("Shift+Tab" if back else "Tab")
        now = page.rig("focused")
        if time == 0 and not now:
            continue  # it was with the browser's own parts
        if not now or any(now["number"] == o["number"] for o in order):
            break
        order.append(now)
    return order


def focus(page, limit=200):
    """By Tab all that can be operated is reached, in the order of the document; one sees where the focus is."""
    order = tab_order(page, limit)
    found = [f"one does not see that {o['name']} has the focus" for o in order if not o["seen"]]
    found += [f"{o['name']} has the focus and is not in view" for o in order if not o["inside"]]
    numbers = [o["number"] for o in order]
    found += [f"the focus goes back from {a['name']} to {b['name']}" for a, b in zip(order, order[1:]) if a["number"] > b["number"]]
    if not order:
        found.append("by Tab nothing on the page is reached")
    if len(numbers) >= limit:
        found.append(f"after {limit} times Tab it has not come round")
    return found


def contrast(page, schemes=("light", "dark")):
    """Texts whose contrast is too low, in each scheme. Colours that change slowly are waited for."""
    found = []
    for scheme in schemes:
        page.emulate(scheme=scheme, motion="reduce")
        page.settle()
        page.rig("still")
        found += [f"{scheme}: {said(c)}" for c in page.rig("contrast") if c.get("unknown") or c["ratio"] < c["needed"]]
    page.emulate()
    return list(dict.fromkeys(found))


def said(c):
    if c.get("unknown"):
        return f"{c['what']} {c['text']!r} stands on a picture, so its contrast is not known"
    return f"{c['what']} {c['text']!r} has a contrast of {c['ratio']}, {c['needed']} is needed ({c['ink']} on {c['paper']})"


def small(page, least=24):
    """What can be pressed and is smaller than that, in pixels."""
    return page.rig("small", least)


def everything(page):
    """All of the above."""
    return [*unnamed(page), *structure(page), *focus(page), *contrast(page), *small(page)]
