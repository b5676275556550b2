#!/usr/bin/env python3
"""Draws docs/local-time.svg: the hours, 4-hour buckets and days of New York where its clocks change, in spring and in autumn.

    local_time_figure.py [FILE]

Standard library only. One hour of time has one width on the page; the numbers are what the clock on the wall shows.
"""
import pathlib
import sys

from windows_figure import STYLE

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "docs/local-time.svg"
WIDTH, LEFT, HOUR, ROW, BAR = 960, 90, 32, 30, 24  # pixels: the page, where a day begins, an hour, a line and a bar in it
# What the clock shows at each hour of the day.
SPRING = [0, 1, *range(3, 24)]
AUTUMN = [0, 1, 1, *range(2, 24)]


def starts(hours, width):
    """The hours that have passed when a bucket starts: where the clock shows a point for the first time, or has jumped over it."""
    found, top = [], -1
    for passed, shown in enumerate(hours):
        # Only an hour is as short as what the clock is set back by, so only hours come again.
        if shown // width > top or width == 1:
            found.append(passed)
        top = max(top, shown // width)
    return found


def bars(hours, width):
    edges = [*starts(hours, width), len(hours)]
    return list(zip(edges, edges[1:]))


class Page:
    """Elements from top to bottom; `y` is where the next one goes."""

    def __init__(self):
        self.body, self.y = [], 0

    def text(self, x, y, words, css="note"):
        self.body.append(f'<text x="{x:g}" y="{y:g}" class="{css}">{words}</text>')

    def bar(self, start, end, css, words):
        x, width = LEFT + start * HOUR, (end - start) * HOUR
        self.body.append(f'<rect x="{x + 1:g}" y="{self.y:g}" width="{width - 2:g}" height="{BAR}" rx="4" class="{css}"/>')
        self.text(x + width / 2, self.y + 17, words, "in")

    def line(self, label, bars, css, words):
        self.text(20, self.y + 17, label, "label")
        for start, end in bars:
            self.bar(start, end, css, words(start, end))
        self.y += ROW

    def day(self, title, note, hours, changed):
        self.y += 30
        self.text(20, self.y, title, "title")
        self.text(20, self.y + 20, note)
        self.y += 34
        x = LEFT + changed * HOUR
        self.body.append(f'<path d="M{x} {self.y - 9}V{self.y + 3 * ROW}" class="change"/>')
        self.line("1 hour", bars(hours, 1), "tumbling", lambda start, _: f"{hours[start]}")
        self.line("4 hours", bars(hours, 4), "hopping", lambda start, end: f"{hours[start] // 4 * 4:02}:00" + f" ({end - start} h)" * (end - start != 4))
        self.line("1 day", bars(hours, 24), "pane", lambda start, end: f"from midnight to midnight: {end - start} hours")


def draw():
    page = Page()
    page.day("8 March 2026: 02:00 becomes 03:00", "There is no hour 2. The grid's points stay where the clock shows them, so one bucket is an hour shorter.", SPRING, 2)
    page.day("1 November 2026: 02:00 becomes 01:00", "Hour 1 comes twice, as two buckets. A wider bucket goes on until the clock shows the next point for the first time.", AUTUMN, 2)
    height = page.y + 12
    body = "\n".join(page.body)
    style = STYLE + "  .change { stroke: #d1571f; stroke-width: 2; stroke-dasharray: 5 3 }\n"
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
            f'aria-label="Hours, 4-hour buckets and days of New York on the two days on which its clocks change">\n<style>{style}</style>\n'
            f'<rect width="{WIDTH}" height="{height}" rx="8" class="page"/>\n{body}\n</svg>\n')


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else OUTPUT
    target.write_text(draw(), encoding="utf-8")
