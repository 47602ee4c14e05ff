"""Hostile texts, which must not become terminal controls or elements of a page."""

from __future__ import annotations

import re
from html.parser import HTMLParser

CONTROLS = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class Tags(HTMLParser):
    """A collector of the elements, attributes and link targets of a page."""

    def __init__(self):
        super().__init__()
        self.names, self.attributes, self.targets = set(), set(), []
        self.scripts, self._in_script = [], False

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        self._in_script = tag == "script"
        self.attributes |= {name for name, _ in attrs}
        self.targets += [value for name, value in attrs if name in {"href", "src", "action"}]

    def handle_data(self, data):
        if self._in_script:
            self.scripts.append(data)
