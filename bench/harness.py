"""Interleaved timing, shared by the benchmarks: every case once a round, in a new order each round, so that whatever
else the machine does falls on all cases alike. A figure is the median over the rounds, a marginal cost the median of
the differences within a round.
"""
import dataclasses
import json
import os
import pathlib
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclasses.dataclass
class Case:
    """Something to time."""

    run: Callable[[], object]
    before: Callable[[], object] = lambda: None  # not timed
    clock: str | None = None  # instead of the run's clock


def interleave(cases: dict[str, Case], rounds: int, clock: str) -> dict[str, list[float]]:
    """The seconds of every case, a figure a round, after one round that is not counted."""
    shuffle = random.Random(1)
    times = {name: [] for name in cases}
    for number in range(-1, rounds):
        names = list(cases)
        shuffle.shuffle(names)
        for name in names:
            case = cases[name]
            now = CLOCKS[case.clock or clock]
            case.before()
            start = now()
            case.run()
            elapsed = now() - start
            if number >= 0:
                times[name].append(elapsed)
        if sys.stderr.isatty():
            print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return times


def median(times: list[float]) -> float:
    return statistics.median(times)


def marginal(times: list[float], base: list[float]) -> float:
    """What a case costs over its base."""
    return statistics.median(whole - scan for whole, scan in zip(times, base, strict=True))


def machine() -> dict[str, object]:
    """What the figures depend on."""
    model = platform.processor() or platform.machine()
    info = pathlib.Path("/proc/cpuinfo")
    if info.exists():
        fields = (line.partition(":") for line in info.read_text().splitlines())
        found = {key.strip(): value.strip() for key, _, value in fields}
        family = f" (family {found['cpu family']}, model {found['model']})" if "cpu family" in found else ""
        model = found.get("model name", model) + family
    return {
        "processor": model,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
    }


def arguments(parser):
    """The options that all benchmarks share, parsed."""
    parser.add_argument("--rows", type=int, default=parser.get_default("rows") or 10_000_000)
    parser.add_argument("--rounds", type=int, default=parser.get_default("rounds") or 9)
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="cpu: what a busy machine disturbs least")
    parser.add_argument("--json", type=pathlib.Path, required=True, metavar="FILE", help="where the results go")
    return parser.parse_args()


def save(path: pathlib.Path, results: dict[str, object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
