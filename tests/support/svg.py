"""Pictures in SVG, read back: groups with their texts, boxes and lines; and whether they are well drawn."""

import re
import xml.etree.ElementTree


class Group:
    """A <g>, or the whole picture: its class, its <title>, and what stands in it."""

    def __init__(self, kind, title):
        self.kind = kind
        self.title = title
        self.texts = []  # Text, of this group alone
        self.rectangles = []  # (left, top, right, bottom)
        self.curves = []  # lists of points
        self.groups = []

    def walk(self):
        yield self
        for group in self.groups:
            yield from group.walk()

    def all_texts(self):
        return [text for group in self.walk() for text in group.texts]

    def find(self, kind):
        """The groups of a class, at any depth, in the order of the picture."""
        return [group for group in self.walk() if kind in group.kind.split()]


class Text:
    def __init__(self, x, y, width, size, value):
        self.x, self.y, self.width, self.size, self.value = x, y, width, size, value

    def __repr__(self):
        return f"Text({self.value!r} at {self.x}, {self.y}, {self.width} wide)"


def _name(element):
    return element.tag.rpartition("}")[2]


def _number(element, name, otherwise=0.0):
    return float(re.match(r"-?[\d.]+(?:e-?\d+)?", element.get(name, str(otherwise)))[0])


def _points(path):
    """The corners of an absolute path of M, L and C."""
    numbers = [float(word) for word in re.findall(r"-?[\d.]+(?:e-?\d+)?", path)]
    return list(zip(numbers[::2], numbers[1::2]))


def _title(element):
    for child in element:
        if _name(child) == "title":
            return child.text or ""
    return ""


def _fill(group, element):
    for child in element:
        kind = _name(child)
        if kind == "g":
            inner = Group(child.get("class", ""), _title(child))
            group.groups.append(inner)
            _fill(inner, child)
        elif kind == "a":
            _fill(group, child)
        elif kind == "rect":
            x, y = _number(child, "x"), _number(child, "y")
            right, bottom = x + _number(child, "width"), y + _number(child, "height")
            group.rectangles.append((x, y, right, bottom))
        elif kind == "path":
            group.curves.append(_points(child.get("d", "")))
        elif kind == "text":
            group.texts.append(
                Text(
                    _number(child, "x"),
                    _number(child, "y"),
                    _number(child, "textLength"),
                    _number(child, "font-size", 10),
                    "".join(child.itertext()),
                )
            )


def read(data):
    """The whole picture as a Group; raises where it is no SVG."""
    root = xml.etree.ElementTree.fromstring(data)
    if _name(root) != "svg":
        raise ValueError(f"the root is {root.tag}, not svg")
    picture = Group("svg", _title(root))
    picture.width, picture.height = _number(root, "width"), _number(root, "height")
    _fill(picture, root)
    return picture


def describe(picture, with_numbers=True):
    """Groups, texts and how many boxes and lines there are, as lines: equal for pictures alike."""

    def clean(text):
        return text if with_numbers else re.sub(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?", "#", text)

    def tell(group, depth):
        counts = f"{len(group.rectangles)} boxes, {len(group.curves)} lines"
        yield f"{'  ' * depth}{group.kind} ({clean(group.title)}): {counts}"
        for text in group.texts:
            yield f"{'  ' * depth}  {clean(text.value)!r}"
        for inner in group.groups:
            yield from tell(inner, depth + 1)

    return list(tell(picture, 0))


# Whether it is well drawn. Lengths are those of the file, in points.

_TOUCH = 0.75  # so much two may share without anyone seeing it


def _reach(text):
    """The rectangle that a text's letters fill."""
    return text.x, text.y - 0.75 * text.size, text.x + text.width, text.y + 0.2 * text.size


def _overlap(one, other):
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width > _TOUCH and height > _TOUCH


def _is_inside(inner, outer):
    return (
        inner[0] >= outer[0] - _TOUCH
        and inner[1] >= outer[1] - _TOUCH
        and inner[2] <= outer[2] + _TOUCH
        and inner[3] <= outer[3] + _TOUCH
    )


def _area(rectangle):
    return (rectangle[2] - rectangle[0]) * (rectangle[3] - rectangle[1])


def frame(node):
    """The outermost rectangle of a node."""
    return max((r for group in node.walk() for r in group.rectangles), key=_area)


def _pairs(things):
    """Pairs of (rectangle, thing) that overlap; only those near each other are compared."""
    things = sorted(things, key=lambda pair: pair[0][0])
    for i, (one, first) in enumerate(things):
        for other, second in things[i + 1 :]:
            if other[0] >= one[2]:
                break
            if _overlap(one, other):
                yield first, second


def faults(picture):
    """What a person would call badly drawn: overlaps, and texts outside their boxes."""
    found = []
    page = (0, 0, picture.width, picture.height)
    texts = picture.all_texts()
    nodes = picture.find("node")
    found += [f"{t} leaves the page" for t in texts if not _is_inside(_reach(t), page)]
    for node in nodes:
        box = frame(node)
        found += [
            f"{t} leaves its box {box}"
            for t in node.all_texts()
            if not _is_inside(_reach(t), box)
        ]
    for one, other in _pairs([(frame(node), node) for node in nodes]):
        found.append(f"{one.title!r} overlaps {other.title!r}")
    found += [f"{a} overlaps {b}" for a, b in _pairs([(_reach(text), text) for text in texts])]
    return found
