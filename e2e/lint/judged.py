"""Every line of e2e/mutants/judged names a place that is there. Usage: judged.py FLAG... (those of the compiler)"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "mutants"))
import mutants  # noqa: E402 # pylint: disable=wrong-import-position


def main():
    judged = mutants.read_judged(mutants.JUDGED)
    named = {file for file, _, _ in judged.values()}
    cache = os.path.join("build", "mutants", "places")  # by content: warm, it is read in a blink
    found = [p for file in sorted(named) if os.path.isfile(file) for p in mutants.find_places(".", cache, sys.argv[1:], file)]
    try:
        mutants.check_judged(judged, found, named)
    except RuntimeError as e:
        sys.exit(str(e))


if __name__ == "__main__":
    main()
