"""An HTML page as its elements, and the data in it."""

import html.parser
import json

EMPTY = {"meta", "br", "input", "link", "img", "hr"}


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.elements = []  # [tag, attributes, text]
        self.open = []

    def handle_starttag(self, tag, attributes):
        element = [tag, dict(attributes), ""]
        self.elements.append(element)
        if tag not in EMPTY:
            self.open.append(element)

    def handle_startendtag(self, tag, attributes):
        self.elements.append([tag, dict(attributes), ""])

    def handle_endtag(self, tag):
        assert self.open and self.open[-1][0] == tag, (tag, [e[0] for e in self.open])
        self.open.pop()

    def handle_data(self, text):
        for element in self.open:
            element[2] += text


class Page:
    def __init__(self, path):
        self.text = path.read_text(encoding="utf-8")
        assert self.text.startswith("<!DOCTYPE html>\n")
        reader = Reader()
        reader.feed(self.text)
        reader.close()
        assert reader.open == []
        self.elements = reader.elements
        parts = [e for e in self.elements if e[1].get("class") == "data"]
        self.parts = [json.loads(part[2]) for part in parts]
        self.data = self.parts[0]

    def find(self, tag):
        return [e for e in self.elements if e[0] == tag]

    def shown(self, tag):
        return [" ".join(e[2].split()) for e in self.find(tag)]

    def rows(self, kind):
        """The rows of a list under the verdict."""
        [found] = [one for one in self.data["lists"] if one["kind"] == kind]
        return found["rows"]

    def events(self):
        """Each event as a dict."""
        data = self.data
        sites = {}
        for file in data["files"]:
            for i, site in enumerate(file["sites"]):
                sites[file["first_site"] + i] = (file["path"], site[0])
        number, found, figures = 0, [], 0
        for i in range(data["events"]["count"]):
            number += data["events"]["seq"][i]
            series = data["series"][data["events"]["series"][i]]
            flags = data["events"]["flags"][i]
            event = {
                "seq": number,
                "name": data["texts"][series["name"]],
                "place": sites[series["site"]],
                "form": data["texts"][data["events"]["form"][i]],
                "turn": data["events"]["turn"][i],
                "call": data["calls"]["number"][data["events"]["call"][i]],
                "change": flags >> 4 & 7,
                "mark": flags >> 7 & 15,
            }
            if flags & 1:
                event["figures"] = data["events"]["figures"][figures : figures + 4]
                figures += 4
            found.append(event)
        return found

    def edges(self):
        """Pairs of events, source and target."""
        target, found = 0, []
        numbers = iter(self.data["edges"])
        for step, back, _kind in zip(numbers, numbers, numbers, strict=True):
            target += step
            found.append((target - back, target))
        return found
