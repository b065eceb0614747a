#!/usr/bin/env python3
"""Writes runtime/view/words/text_width.def: the advance widths of the DejaVu fonts.

    python3 tools/make_text_widths.py /usr/share/fonts/truetype/dejavu >runtime/view/words/text_width.def

Reads the fonts' own tables (cmap, hmtx), so that nothing has to be installed. Characters of
equal widths in a row are one line. The monospaced face needs no table: all its characters have
one width.
"""

import struct
import sys
from pathlib import Path

# Characters of names, code and numbers; text_width.c estimates the others.
BLOCKS = [
    (0x00A0, 0x024F),  # Latin
    (0x0250, 0x02FF),  # IPA, modifiers
    (0x0370, 0x052F),  # Greek, Cyrillic
    (0x0531, 0x058A),  # Armenian
    (0x05D0, 0x05F4),  # Hebrew
    (0x0600, 0x06FF),  # Arabic
    (0x10A0, 0x10FF),  # Georgian
    (0x1E00, 0x1EFF),  # Latin, more
    (0x2000, 0x206F),  # punctuation
    (0x2070, 0x20BF),  # superscripts, subscripts, currencies
    (0x2100, 0x214F),  # letter-like
    (0x2150, 0x218F),  # fractions, numerals
    (0x2190, 0x21FF),  # arrows
    (0x2200, 0x22FF),  # mathematics
    (0x2300, 0x23FF),  # technical
    (0x2500, 0x25FF),  # boxes, blocks, shapes
    (0x2600, 0x27BF),  # symbols
    (0x27C0, 0x27FF),  # mathematics, arrows
    (0xFB00, 0xFB4F),  # ligatures, Hebrew
    (0x1D400, 0x1D7FF),  # mathematical letters
]


class Font:
    """The advance widths of a font's characters in 1/1000 em."""

    def __init__(self, path: Path) -> None:
        data = path.read_bytes()
        self.tables = {}
        for i in range(struct.unpack_from(">H", data, 4)[0]):
            tag, _, offset, size = struct.unpack_from(">4sIII", data, 12 + 16 * i)
            self.tables[tag.decode()] = data[offset : offset + size]
        self.units = struct.unpack_from(">H", self.tables["head"], 18)[0]
        self.metric_count = struct.unpack_from(">H", self.tables["hhea"], 34)[0]
        self.glyphs = self.read_glyphs()

    def read_glyphs(self) -> "dict[int, int]":
        """The number of each character's glyph: from the table of format 12, which has all."""
        cmap = self.tables["cmap"]
        for i in range(struct.unpack_from(">H", cmap, 2)[0]):
            offset = struct.unpack_from(">HHI", cmap, 4 + 8 * i)[2]
            if struct.unpack_from(">H", cmap, offset)[0] == 12:
                return dict(self.read_runs(cmap, offset))
        raise SystemExit("the font has no table of characters of format 12")

    @staticmethod
    def read_runs(cmap: bytes, offset: int) -> "object":
        for i in range(struct.unpack_from(">I", cmap, offset + 12)[0]):
            first, last, glyph = struct.unpack_from(">III", cmap, offset + 16 + 12 * i)
            for code in range(first, last + 1):
                yield code, glyph + code - first

    def width(self, code: int) -> "int | None":
        glyph = self.glyphs.get(code)
        if not glyph:
            return None
        index = min(glyph, self.metric_count - 1)
        return round(
            struct.unpack_from(">H", self.tables["hmtx"], 4 * index)[0] * 1000 / self.units
        )


def main() -> None:
    folder = Path(sys.argv[1])
    sans = Font(folder / "DejaVuSans.ttf")
    bold = Font(folder / "DejaVuSans-Bold.ttf")
    print(
        "/* Made by tools/make_text_widths.py from the DejaVu fonts: advance widths in 1/1000 em."
    )
    print(" * ASCII_WIDTH(sans, bold): from the blank to the tilde.")
    print(" * WIDTH_RUN(first, last, sans, bold): in the order of their numbers. */")
    for code in range(0x20, 0x7F):
        print(f"ASCII_WIDTH({sans.width(code)}, {bold.width(code)})")
    runs: "list[list[int]]" = []
    for first, last in BLOCKS:
        for code in range(first, last + 1):
            normal = sans.width(code)
            if normal is None:
                continue
            wide = bold.width(code)
            wide = normal if wide is None else wide
            if runs and runs[-1][1] == code - 1 and runs[-1][2:] == [normal, wide]:
                runs[-1][1] = code
            else:
                runs.append([code, code, normal, wide])
    for first, last, normal, wide in runs:
        print(f"WIDTH_RUN(0x{first:04X}, 0x{last:04X}, {normal}, {wide})")


if __name__ == "__main__":
    main()
