#!/usr/bin/env python3
"""Turns the benchmarks' results into tables, and fills docs/performance.md and its charts with them.

    report.py DOCUMENT FOLDER RESULTS.json...

The charts go into the folder. In the document, what stands between `<!-- NAME -->` and `<!-- /NAME -->` is replaced; the prose around stays. Results
of small runs are left out, so that a trial run does not change the document.
"""
import html
import json
import pathlib
import re
import sys

from harness import table

FULL_RUN = 10_000_000
OURS = "time_bucket extension"


def costs_table(results) -> str:
    """Nanoseconds a row of each function."""
    columns = ["scan", "ours", "end", "identity", "built-in"]
    return table(
        ["ns a row", *columns],
        [[f"{row['type']}, {row['order']}", *(f"{row[column]:.2f}" for column in columns)] for row in results["costs"]],
    )


def goals_table(engines) -> str:
    """Each goal beside what every engine measured: the worst of its cases, in bold where it misses."""
    rows = []
    for goals in zip(*(results["goals"] for results in engines), strict=True):
        limits = dict.fromkeys(f"{goal['at_most']:g} {goal['unit']}".strip() for goal in goals)
        row = [goals[0]["what"], " / ".join(limits)]
        for goal in goals:
            worst = max(goal["cases"], key=goal["cases"].get)
            value = f"{goal['cases'][worst]:.3g}"
            value = value if goal["cases"][worst] <= goal["at_most"] else f"**{value}**"
            best = min(goal["cases"].values())
            row.append(f"{value} {goal['unit']}".strip() + (f" ({worst}; best {best:.3g})" if worst else ""))
        rows.append(row)
    return table(["what", "at most", *(f"DuckDB {results['engine']}" for results in engines)], rows)


def peers_table(results, threads: int) -> str:
    """Each engine's cost of each job, and how many times ours that is."""
    found = {
        (row["engine"], row["job"], row["order"]): row["ns"] for row in results["results"] if row["threads"] == threads
    }
    jobs = list(dict.fromkeys((job, order) for _, job, order in found))
    jobs.sort(key=lambda key: (key[0] == "copy", key[0], key[1]))

    def cell(engine, job, order):
        ns = found.get((engine, job, order))
        if ns is None:
            return ""
        ours = found.get((OURS, job.split()[0], order))
        return f"{ns:.2f}" if engine == OURS or ours is None else f"{ns:.2f} ({ns / ours:.1f} ×)"

    engines = dict.fromkeys(engine for engine, _, _ in found)
    return table(
        ["ns a row", *(f"{job}, {order}" for job, order in jobs)],
        [[engine, *(cell(engine, *job) for job in jobs)] for engine in engines],
    )


def peer_goals_table(results) -> str:
    """The goals against other engines: our cost over theirs, the worse of random and sorted input."""
    found = {
        (row["engine"], row["order"]): row["ns"]
        for row in results["results"]
        if row["threads"] == 1 and row["job"] == "bucket"
    }
    rows = []
    for engine, goal in (("Polars", 0.5), ("ClickHouse", 0.3), ("DataFusion", 0.2)):
        ratios = {order: found[OURS, order] / found[engine, order] for _, order in found}
        worst = max(ratios, key=ratios.get)
        value = f"{ratios[worst]:.3g}" if ratios[worst] <= goal else f"**{ratios[worst]:.3g}**"
        rows.append([f"the function against {engine}", f"{goal:g}", f"{value} ({worst}; best {min(ratios.values()):.3g})"])
    return table(["what", "at most", "measured"], rows)


def local_costs_table(engines) -> str:
    """Nanoseconds a row of each case of local time, and of each way to bucket them."""
    found = {}
    for number, results in enumerate(engines):
        for name, ns in results["costs"].items():
            way, _, rows = name.partition(", ")
            found.setdefault((way, rows or "random year"), {})[number] = ns
    return table(
        ["ns a row", *(f"DuckDB {results['engine']}" for results in engines)],
        [[f"{way}, {rows}", *(f"{cells[number]:,.2f}" if number in cells else "" for number in range(len(engines)))]
         for (way, rows), cells in found.items()],
    )


def windows_table(runs) -> str:
    """Each job of windows: our cost over that of the best of the others, and both; in bold where a goal is missed."""
    rows = []
    for jobs in zip(*(run["jobs"] for run in runs), strict=True):
        goal = jobs[0]["at_most"]
        row = [jobs[0]["what"], f"{goal:.2f}" if goal else ""]
        for job in jobs:
            ours = job["ms"]["time_bucket"]
            others = {name: ms for name, ms in job["ms"].items() if name != "time_bucket"}
            rival = min(others, key=others.get, default=None)
            if not rival:
                row.append(f"({ours:.0f} ms)")
                continue
            ratio = ours / others[rival]
            value = f"**{ratio:.2f}**" if goal and ratio > goal else f"{ratio:.2f}"
            row.append(f"{value} ({ours:.0f} ms; {rival} {others[rival]:.0f})")
        rows.append(row)
    return table(["job", "at most", *(f"DuckDB {run['engine']}, {run['threads']} thread{'s' * (run['threads'] > 1)}" for run in runs)], rows)


def memory_table(engines) -> str:
    """Greatest memory and processor time of each job, by the number of windows."""
    sizes = [size["rows"] for size in next(iter(engines[0]["jobs"].values()))]
    rows = []
    for job in engines[0]["jobs"]:
        for run in engines:
            found = run["jobs"][job]
            cells = (f"{size['mib']:,.0f} MiB, " + (f"{size['seconds']:.2f} s" if size["seconds"] is not None else "out of memory") for size in found)
            rows.append([job, run["engine"], *cells])
    return table(["job", "DuckDB", *(f"{size:,}" for size in sizes)], rows)


def windows_chart(run) -> str:
    """An SVG: for each job a bar for every contestant, the shortest first."""
    names, widest, bar, top = 190, 420, 15, 30
    parts, y = [], top
    for job in (job for job in run["jobs"] if len(job["ms"]) > 1):
        parts.append(f'<text class="title" x="0" y="{y}">{html.escape(job["what"])}</text>')
        most = max(job["ms"].values())
        for name, ms in sorted(job["ms"].items(), key=lambda item: item[1]):
            y += bar + 3
            ours = "ours " if name == "time_bucket" else ""
            width = max(1, ms / most * widest)
            parts.append(
                f'<text class="{ours}" x="{names - 8}" y="{y}" text-anchor="end">{html.escape(name)}</text>'
                f'<rect class="{ours}random" x="{names}" y="{y - bar + 4}" width="{width:.1f}" height="{bar - 3}"/>'
                f'<text class="{ours}" style="font-size: 11px" x="{names + width + 5:.1f}" y="{y}">{ms:.0f} ms</text>'
            )
        y += 34
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {names + widest + 80} {y - 20}" role="img" '
        f'aria-label="Milliseconds of each way to answer a job; shorter is faster"><style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def growth_table(engines) -> str:
    """Cost and memory by the number of rows."""
    header = ["rows"]
    for results in engines:
        header += [f"ns a row, {results['engine']}", f"MiB, {results['engine']}"]
    return table(header, [
        [f"{sizes[0]['rows']:,}", *(cell for size in sizes for cell in (f"{size['ns']:.2f}", f"{size['memory_mib']:.0f}"))]
        for sizes in zip(*(results["sizes"] for results in engines), strict=True)
    ])


def machine_line(results) -> str:
    """Where and how something was measured."""
    machine = results["machine"]
    versions = ", ".join(f"{package} {version}" for package, version in results.get("versions", {}).items())
    clock = "" if results["clock"] == "wall" else ", processor time"
    rows = f"{results['rows']:,} rows, " if "rows" in results else ""
    return (
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB, {machine['system']}; "
        f"{rows}median of {results['rounds']} interleaved rounds{clock}" + (f"; {versions}" if versions else "") + "."
    )


# One grey that is legible on white and on black, should the viewer not tell which it has; style says more if it does.
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #6e7781 }
.title { font-size: 15px; font-weight: 600 }
.ours { fill: #d4691e; font-weight: 600 }
.random { fill: #4b83c4 } .sorted { fill: #9dbbe0 }
.ours.random { fill: #d4691e } .ours.sorted { fill: #eda671 }
.axis { stroke: #8c959f }
@media (prefers-color-scheme: dark) { text { fill: #b1bac4 } text.ours { fill: #f0883e } }
"""


def chart(results) -> str:
    """An SVG: two panels, a pair of bars for each engine, random and sorted rows, on one thread."""
    names, panel, bar, pair, top = 190, 300, 11, 34, 56
    panels = [("bucket", "Bucket a column, ns a row over the scan"), ("group", "GROUP BY bucket, ns a row")]
    found = {
        (row["job"], row["engine"], row["order"]): row["ns"] for row in results["results"] if row["threads"] == 1
    }
    parts = []
    height = 0
    for column, (job, title) in enumerate(panels):
        left = column * (names + panel + 60)
        costs = {engine: found[job, engine, "random"] for of, engine, _ in found if of == job}
        widest = max(ns for (of, _, _), ns in found.items() if of == job)
        parts.append(f'<text class="title" x="{left + names}" y="24">{html.escape(title)}</text>')
        for order, x in (("random", 0), ("sorted", 110)):
            parts.append(f'<rect class="{order}" x="{left + names + x}" y="34" width="11" height="11"/>')
            parts.append(f'<text x="{left + names + x + 17}" y="44">{order} rows</text>')
        for row, engine in enumerate(sorted(costs, key=costs.get)):
            y = top + row * pair
            height = max(height, y + pair)
            ours = "ours " if engine == OURS else ""
            parts.append(
                f'<text class="{ours}" x="{left + names - 8}" y="{y + 16}" text-anchor="end">{html.escape(engine)}</text>'
            )
            for number, order in enumerate(("random", "sorted")):
                ns = found[job, engine, order]
                width = max(1, ns / widest * panel)
                at = y + number * (bar + 1)
                parts.append(
                    f'<rect class="{ours}{order}" x="{left + names}" y="{at}" width="{width:.1f}" height="{bar}"/>'
                    f'<text class="{ours}" style="font-size: 11px" x="{left + names + width + 5:.1f}" y="{at + 10}">{ns:.1f}</text>'
                )
        parts.append(f'<path class="axis" d="M{left + names} {top - 4}V{top + len(costs) * pair - 6}"/>')
    width = 2 * (names + panel + 60)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Cost a row of each engine; shorter is faster"><style>{STYLE}</style>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def main() -> None:
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    document, charts = map(pathlib.Path, sys.argv[1:3])
    found = {path.stem: json.loads(path.read_text()) for path in map(pathlib.Path, sys.argv[3:])}
    for name in [name for name, results in found.items() if results.get("rows", FULL_RUN) < FULL_RUN]:
        print(f"report: {name} has {found.pop(name)['rows']:,} rows only, so {document} keeps what it says")
    sql = [results for name, results in found.items() if name.startswith("sql-")]
    local = [results for name, results in found.items() if name.startswith("local-") and name != "local-peers"]
    growth = [results for name, results in found.items() if name.startswith("growth-")]
    filled = {}
    if sql:
        filled["goals"] = goals_table(sql) + "\n\n" + machine_line(sql[0])
        filled["costs"] = "\n\n".join(f"DuckDB {results['engine']}:\n\n{costs_table(results)}" for results in sql)
    if "peers" in found:
        peers = found["peers"]
        filled["peer goals"] = peer_goals_table(peers)
        filled["peers"] = (
            f"One thread:\n\n{peers_table(peers, 1)}\n\nTwo threads:\n\n{peers_table(peers, 2)}\n\n{machine_line(peers)}"
        )
        (charts / "performance.svg").write_text(chart(peers))
    if local:
        filled["local"] = "\n\n".join([goals_table(local), local_costs_table(local), machine_line(local[0])])
    if "local-peers" in found:
        peers = found["local-peers"]
        filled["local peers"] = "\n\n".join([goals_table([peers]), local_costs_table([peers]), machine_line(peers)])
    windows = [results for name, results in found.items() if name.startswith("windows-")]
    windows.sort(key=lambda run: (run["threads"], -len(run["versions"]), run["engine"]))
    if windows:
        filled["windows"] = windows_table(windows) + "\n\n" + machine_line(windows[0])
        (charts / "windows-performance.svg").write_text(windows_chart(windows[0]))
    memory = [results for name, results in found.items() if name.startswith("windows_memory-")]
    if memory:
        filled["windows memory"] = memory_table(memory) + f"\n\nmemory_limit {memory[0]['limit']} MB; " + machine_line(memory[0])
    if growth:
        filled["growth"] = growth_table(growth) + "\n\n" + machine_line(growth[0])
    if "cluster" in found:
        filled["cluster"] = found["cluster"]["markdown"]
    text = document.read_text()
    for name, content in filled.items():
        text, count = re.subn(
            rf"(<!-- {name} -->).*?(<!-- /{name} -->)", lambda match: f"{match[1]}\n{content}\n{match[2]}", text, flags=re.S
        )
        if count != 1:
            sys.exit(f"report: {document} has no place for {name}")
    document.write_text(text)


if __name__ == "__main__":
    main()
