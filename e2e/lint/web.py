"""The page's browser side: no way from text to markup or code, no styles and no addresses but its own."""
import re
import sys

from tree import files

BANNED = [
    (r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|setHTML\w*|srcdoc|document\.write",
     "text goes in as text: dom.js"),
    (r"\beval\b|\bnew Function\b|\bFunction\(|set(Timeout|Interval)\(\s*['\"`]", "no code from text"),
    (r"\bimport\(\s*(?!['\"])", "a module is named where it is imported"),
    (r"[\s'\"]style\s*=\s*[\"']|['\"{,]\s*style['\"]?\s*:|\bcssText\b|Attribute\(\s*['\"]style|<style\b|<script\b(?![^>]*\bsrc=)|\son[a-z]+\s*=\s*[\"']",
     "styles, scripts and handlers stand in files"),
    (r"\b(?:https?|wss?):?//(?!www\.w3\.org/2000/svg)", "nothing is asked of others"),
]


def main():
    wrong = 0
    for path, text in files("kubectl-fleet/page/web/**"):
        for number, line in enumerate(text.split("\n"), 1):
            for pattern, why in BANNED:
                found = re.search(pattern, line)
                if found:
                    print(f"{path}:{number}: {found.group(0).strip()}: {why}")
                    wrong += 1
    sys.exit(1 if wrong else 0)


main()
