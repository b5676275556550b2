"""A picture as SVG, drawn from top to bottom. It brings its own background and follows the reader's light or dark scheme.

Standard library only.
"""
import pathlib
import sys

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
    """Elements of a page `width` pixels wide, on which time goes from `left` on, `unit` pixels for one of it. `y` is where the next
    element goes; a bar of time is `height` pixels high, its words `base` below its top."""

    def __init__(self, width, left, unit, height, base):
        self.width, self.left, self.unit, self.height, self.base = width, left, unit, height, base
        self.body, self.y = [], 0

    def at(self, time):
        return self.left + time * self.unit

    def text(self, x, y, words, css="note"):
        self.body.append(f'<text x="{x:g}" y="{y:g}" class="{css}">{words}</text>')

    def section(self, title, note):
        self.y += 30
        self.text(20, self.y, title, "title")
        self.text(20, self.y + 20, note)
        self.y += 34

    def bar(self, start, end, css, words=""):
        """From one time to another."""
        x, width = self.at(start), (end - start) * self.unit
        self.body.append(f'<rect x="{x + 1:g}" y="{self.y:g}" width="{width - 2:g}" height="{self.height}" rx="4" class="{css}"/>')
        if words:
            self.text(x + width / 2, self.y + self.base, words, "in")

    def svg(self, label, style=""):
        """The whole, with what it is called for those who can't see it."""
        height, body = self.y + 12, "\n".join(self.body)
        return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {height}" width="{self.width}" height="{height}" role="img" '
                f'aria-label="{label}">\n<style>{STYLE}{style}</style>\n'
                f'<rect width="{self.width}" height="{height}" rx="8" class="page"/>\n{body}\n</svg>\n')


def main(draw, name, usage):
    """Writes what `draw` gives to the file that the command names, or to docs/`name`."""
    if len(sys.argv) > 2:
        sys.exit(usage)
    own = pathlib.Path(__file__).resolve().parent.parent / "docs" / name
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else own
    target.write_text(draw(), encoding="utf-8")
