"""Screenshots of pages: python tools/page_pictures.py FOLDER [PAGE …], which needs torch, Pillow
and Chromium.

Records the four programs of tests/view/page/four_pages.py, writes their pages, and takes a picture
of each at three widths, light and dark, as PNG with a palette.
"""

import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

#: Width and height of a picture.
SIZES = [(400, 1000), (1280, 1000), (2560, 1300)]
#: The link and the keys; some pictures show the top of the page, others a chosen value.
SHOTS = {
    "nan": {400: ("", ""), 1280: ("", ""), 2560: ("", "n")},
    "diff": {400: ("", "n"), 1280: ("", "n"), 2560: ("", "")},
    "training": {400: ("#models.py:341", ""), 1280: ("#models.py:341:3:40:loss_d", ""), 2560: ("", "")},
    "ranks": {400: ("", ""), 1280: ("", "n"), 2560: ("", "n")},
}


def shrink(path):
    """Reduces the picture to 256 colours, without visible loss for text on plain ground."""
    from PIL import Image

    picture = Image.open(path).convert("RGB")
    picture.quantize(256, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).save(path, optimize=True)


def photograph(window, name, page, output):
    for width, height in SIZES:
        fragment, keys = SHOTS[name][width]
        for theme in ("light", "dark"):
            window.open(page, width, height, theme == "dark", fragment)
            for key in keys:
                window.press(key)
            window.do("new Promise((done) => setTimeout(done, 200))")
            path = output / f"page_{name}_{width}_{theme}.png"
            window.picture(path)
            shrink(path)
            print(path, *window.errors, flush=True)


def main():
    from tests.support import browser
    from tests.view.page import four_pages

    output = pathlib.Path(sys.argv[1]).absolute()
    window = browser.Browser()
    try:
        for name in sys.argv[2:] or SHOTS:
            folder = pathlib.Path(tempfile.gettempdir(), "work")  # its name appears in the pictures
            folder.mkdir()
            try:
                photograph(window, name, four_pages.write(name, folder), output)
            finally:
                shutil.rmtree(folder)
    finally:
        window.close()


if __name__ == "__main__":
    main()
