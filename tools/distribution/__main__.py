"""usage: PYTHONPATH=tools python -m distribution wheel|sdist FOLDER [NAME=VALUE…]"""

import os
import sys

from distribution import backend

HOOKS = {"wheel": backend.build_wheel, "sdist": backend.build_sdist}


def main() -> None:
    if len(sys.argv) < 3 or sys.argv[1] not in HOOKS:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    folder = sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    settings = dict(word.split("=", 1) for word in sys.argv[3:])
    print(os.path.join(folder, HOOKS[sys.argv[1]](folder, settings)))


if __name__ == "__main__":
    main()
