#!/usr/bin/env python3
"""Draws docs/windows.svg: tumbling windows, hopping windows, and a sliding query composed of panes.

    windows_figure.py [FILE]

Standard library only. The picture brings its own background and follows the reader's light or dark scheme.
"""
import pathlib
import sys

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "docs/windows.svg"

WIDTH, LEFT, MINUTE = 880, 135, 70  # pixels: the page, where 12:00 is, and a minute
MINUTES = 10
ROW, BAR = 30, 22  # from one window to the next, and its height
EVENTS = [0.4, 1.2, 1.7, 2.5, 3.1, 3.3, 4.6, 5.5, 6.2, 6.8, 7.0, 8.4, 9.3]

STYLE = """
  text { font: 14px system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-weight: 600; font-size: 16px }
  .note { fill: #59636e; font-size: 13px }
  .in { fill: #ffffff; font-size: 13px; text-anchor: middle }
  .tick { text-anchor: middle; font-size: 12px; fill: #59636e }
  .grid { stroke: #8c959f; stroke-opacity: .35 }
  .edge { stroke: #8c959f }
  .event { fill: #d1571f }
  .tumbling { fill: #1f6feb } .hopping { fill: #7a4fd0 } .pane { fill: #1a7f64 } .query { fill: #b35900 }
  .page { fill: #ffffff }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117 } text { fill: #e6edf3 } .note, .tick { fill: #9da7b3 } .in { fill: #ffffff }
  }
"""


class Page:
    """Elements from top to bottom; `y` is where the next one goes."""

    def __init__(self):
        self.body, self.y = [], 0

    def text(self, x, y, words, css="note"):
        self.body.append(f'<text x="{x}" y="{y}" class="{css}">{words}</text>')

    def bar(self, start, end, css, words=""):
        """A window from `start` to `end`, in minutes after 12:00."""
        x, width = LEFT + start * MINUTE, (end - start) * MINUTE
        self.body.append(f'<rect x="{x + 1:g}" y="{self.y:g}" width="{width - 2:g}" height="{BAR}" rx="4" class="{css}"/>')
        if words:
            self.text(f"{x + width / 2:g}", f"{self.y + 16:g}", words, "in")

    def section(self, title, note):
        self.y += 30
        self.text(20, self.y, title, "title")
        self.text(20, self.y + 20, note)
        self.y += 34

    def grid(self, top, bottom):
        lines = "".join(f'<path d="M{LEFT + m * MINUTE} {top}V{bottom}" class="grid"/>' for m in range(MINUTES + 1))
        self.body.insert(0, lines)


def minute(m):
    return f"12:{m:02}"


def draw():
    page = Page()
    page.y = 30
    page.text(20, page.y + 5, "rows", "label")
    for at in EVENTS:
        page.body.append(f'<circle cx="{LEFT + at * MINUTE:g}" cy="{page.y}" r="5" class="event"/>')
    page.y += 22
    top = page.y
    page.body.append(f'<path d="M{LEFT} {page.y}H{LEFT + MINUTES * MINUTE}" class="edge"/>')
    for m in range(MINUTES + 1):
        page.text(LEFT + m * MINUTE, page.y + 18, minute(m), "tick")
    page.y += 24
    grids = []

    page.section("Tumbling", "time_bucket('2 minutes', ts): one window after the other; each row lies in exactly one.")
    start = page.y
    for m in range(0, MINUTES, 2):
        page.bar(m, m + 2, "tumbling", f"[{minute(m)}, {minute(m + 2)})")
    page.y += ROW
    grids.append((start - 4, page.y))

    page.section("Hopping", "time_bucket_hop('2 minutes', '5 minutes', ts): a window of 5 minutes starts every 2; a row lies in 2 or 3 of them.")
    start = page.y
    for m in (0, 2, 4):
        page.bar(m, m + 5, "hopping", f"[{minute(m)}, {minute(m + 5)})")
        page.text(20, page.y + 16, f"window {m // 2 + 1}", "label")
        page.y += ROW
    grids.append((start - 4, page.y))

    page.section("Sliding, composed of panes", "Lookback 5 minutes, every minute: panes of 1 minute are aggregated once, and each answer merges the latest five.")
    start = page.y
    page.text(20, page.y + 16, "panes", "label")
    for m in range(MINUTES):
        page.bar(m, m + 1, "pane", f"p{m}")
    page.y += ROW
    for at in (7, 8, 9):
        page.text(20, page.y + 16, f"asked at {minute(at)}", "label")
        page.bar(at - 5, at, "query", " + ".join(f"p{m}" for m in range(at - 5, at)))
        page.y += ROW
    grids.append((start - 4, page.y))

    for upper, lower in grids:
        page.grid(upper, lower)
    height = page.y + 12
    body = "\n".join(page.body)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" '
            f'aria-label="Tumbling windows, hopping windows, and sliding windows composed of panes">\n<style>{STYLE}</style>\n'
            f'<rect width="{WIDTH}" height="{height}" rx="8" class="page"/>\n{body}\n</svg>\n')


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else OUTPUT
    target.write_text(draw(), encoding="utf-8")
