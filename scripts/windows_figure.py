#!/usr/bin/env python3
"""Draws docs/windows.svg: tumbling windows, hopping windows, and a sliding query composed of panes.

    windows_figure.py [FILE]
"""
from page import Page, main

WIDTH, LEFT, MINUTE = 880, 135, 70  # pixels: the page, where 12:00 is, and a minute
MINUTES = 10
ROW, BAR = 30, 22  # from one window to the next, and its height
EVENTS = [0.4, 1.2, 1.7, 2.5, 3.1, 3.3, 4.6, 5.5, 6.2, 6.8, 7.0, 8.4, 9.3]


def grid(page, top, bottom):
    page.body.insert(0, "".join(f'<path d="M{page.at(m)} {top}V{bottom}" class="grid"/>' for m in range(MINUTES + 1)))


def minute(m):
    return f"12:{m:02}"


def draw():
    page = Page(WIDTH, LEFT, MINUTE, BAR, 16)
    page.y = 30
    page.text(20, page.y + 5, "rows", "label")
    for at in EVENTS:
        page.body.append(f'<circle cx="{page.at(at):g}" cy="{page.y}" r="5" class="event"/>')
    page.y += 22
    top = page.y
    page.body.append(f'<path d="M{LEFT} {page.y}H{page.at(MINUTES)}" class="edge"/>')
    for m in range(MINUTES + 1):
        page.text(page.at(m), page.y + 18, minute(m), "tick")
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
        grid(page, upper, lower)
    return page.svg("Tumbling windows, hopping windows, and sliding windows composed of panes")


if __name__ == "__main__":
    main(draw, "windows.svg", __doc__)
