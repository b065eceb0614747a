"""Runs fidelity_programs.py, plain or instrumented: python fidelity_child.py SOURCE RESULT.json"""

import json
import sys
import warnings

from child_imports import load


def main():
    path, result = sys.argv[1:3]
    warnings.simplefilter("ignore")
    programs = load(path)
    # The second time everything is warm: types were met, texts and forms have their numbers.
    told = {}
    for turn in range(2):
        for program in programs.PROGRAMS:
            told[f"{program.__name__}, turn {turn}"] = repr(program())
    with open(result, "w") as file:
        json.dump(told, file)


if __name__ == "__main__":
    main()
