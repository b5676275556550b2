#!/usr/bin/env python3
"""Draws docs/local-time.svg: the hours, 4-hour buckets and days of New York where its clocks change, in spring and in autumn.

    local_time_figure.py [FILE]

One hour of time has one width on the page; the numbers are what the clock on the wall shows.
"""
from page import Page, main

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


def line(page, label, bars, css, words):
    page.text(20, page.y + 17, label, "label")
    for start, end in bars:
        page.bar(start, end, css, words(start, end))
    page.y += ROW


def day(page, title, note, hours, changed):
    page.section(title, note)
    page.body.append(f'<path d="M{page.at(changed)} {page.y - 9}V{page.y + 3 * ROW}" class="change"/>')
    line(page, "1 hour", bars(hours, 1), "tumbling", lambda start, _: f"{hours[start]}")
    line(page, "4 hours", bars(hours, 4), "hopping", lambda start, end: f"{hours[start] // 4 * 4:02}:00" + f" ({end - start} h)" * (end - start != 4))
    line(page, "1 day", bars(hours, 24), "pane", lambda start, end: f"from midnight to midnight: {end - start} hours")


def draw():
    page = Page(WIDTH, LEFT, HOUR, BAR, 17)
    day(page, "8 March 2026: 02:00 becomes 03:00", "There is no hour 2. The grid's points stay where the clock shows them, so one bucket is an hour shorter.", SPRING, 2)
    day(page, "1 November 2026: 02:00 becomes 01:00", "Hour 1 comes twice, as two buckets. A wider bucket goes on until the clock shows the next point for the first time.", AUTUMN, 2)
    return page.svg("Hours, 4-hour buckets and days of New York on the two days on which its clocks change",
                    "  .change { stroke: #d1571f; stroke-width: 2; stroke-dasharray: 5 3 }\n")


if __name__ == "__main__":
    main(draw, "local-time.svg", __doc__)
