#!/usr/bin/env python3
"""Simulates panes and windows on a cluster that nobody here has, from what was measured on one core: a Markdown table.

    plan.py [--rows N] [--keys N] [--workers N] [--days N] [--seed N]

A stage is a list of tasks, which free workers take in turn, the scheduler handing out so many a second. A task takes its mean time, times a random
factor, and some of them a second time since their worker died. What is measured and what is assumed is said with the table.
"""
import argparse
import heapq
import random

# Measured, see docs/cluster.md: 5 million random rows of 1,000 keys, a value of DOUBLE, panes of 5 minutes, DuckDB 2.0.1 on one core.
ROWS_A_SECOND = 10.3e6      # stage 1, from Parquet in the page cache to panes
PANES_A_SECOND = 0.66e6     # stage 2, merged, rolled and written
MERGED_A_SECOND = 0.75e6    # compaction
PANE_BYTES = 33
WINDOW_BYTES = 27
TASK_SECONDS = 0.05         # a connection, LOAD, macros
# Assumed.
ROW_BYTES = 20              # in Parquet
TASK_ROWS = 1e8             # a task of stage 1: files of one range of time
READ_BYTES_A_SECOND = 100e6  # by one worker, from shared storage
OPEN_SECONDS = 0.03         # a file's footer, from shared storage
HANDED_OUT_A_SECOND = 1000  # by the scheduler
SPREAD = 0.3                # a task's time is its mean, times a lognormal of this sigma
LOST = 0.001                # tasks that run twice
SPAN_PANES = 1024
WIDTH_SECONDS = 300


def stage(tasks, workers, mean, draw):
    """How long a stage takes, in seconds, and how busy its workers were."""
    free = [0.0] * workers
    busy = 0.0
    for number in range(tasks):
        took = mean * draw.lognormvariate(-SPREAD**2 / 2, SPREAD) * (2 if draw.random() < LOST else 1)
        start = max(heapq.heappop(free), number / HANDED_OUT_A_SECOND)
        heapq.heappush(free, start + took)
        busy += took
    end = max(free)
    return end, busy / (end * workers)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    for name, default in {"rows": 10**12, "keys": 10**6, "workers": 1000, "days": 30, "seed": 1}.items():
        parser.add_argument(f"--{name}", type=lambda text: int(float(text)), default=default)
    given = parser.parse_args()
    draw = random.Random(given.seed)
    seconds = given.days * 86400
    panes = given.keys * seconds / WIDTH_SECONDS  # as many as there may be, each key being read all the time
    tasks = max(1, round(given.rows / TASK_ROWS))
    # A task's time seldom begins and ends with a pane, so that each key has one part of a pane more in each.
    partial = panes + given.keys * tasks
    spans = max(1, round(seconds / (SPAN_PANES * WIDTH_SECONDS)))
    partitions = max(1, given.workers)
    files = tasks / spans + 1  # that have panes of a span

    def read(count):
        return max(count * PANE_BYTES / READ_BYTES_A_SECOND, count / PANES_A_SECOND)

    rows = given.rows / tasks
    stages = [("panes", tasks, max(rows / ROWS_A_SECOND, rows * ROW_BYTES / READ_BYTES_A_SECOND) + OPEN_SECONDS, given.rows * ROW_BYTES, partial * PANE_BYTES)]
    each = partial / (spans * partitions)
    stages.append(("windows, from all files", spans * partitions, read(each) + files * OPEN_SECONDS, partial * PANE_BYTES, panes * WINDOW_BYTES))
    # Compaction by hours of work: tasks that merge a few minutes' panes of all keys, so that a span is in fewer files.
    merges = max(1, round(partial / 2e7))
    stages.append(("compaction, 20 million panes a task", merges, partial / merges / MERGED_A_SECOND + tasks / merges * OPEN_SECONDS, partial * PANE_BYTES, panes * PANE_BYTES))
    each = panes / (spans * partitions)
    stages.append(("windows, after compaction", spans * partitions, read(each) + (merges / spans + 1) * OPEN_SECONDS, panes * PANE_BYTES, panes * WINDOW_BYTES))
    late = given.keys * 2
    stages.append(("a late file of one pane of each key", 2 * partitions, read(2 * each) + (merges / spans + 2) * OPEN_SECONDS, late * PANE_BYTES, 2 * SPAN_PANES * given.keys * WINDOW_BYTES))
    print("| stage | tasks | minutes | workers busy | TB read | TB written |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, count, mean, taken, written in stages:
        took, busy = stage(int(count), given.workers, mean + TASK_SECONDS, draw)
        print(f"| {name} | {int(count):,} | {took / 60:.1f} | {busy:.0%} | {taken / 1e12:.3g} | {written / 1e12:.3g} |")
    print(f"\n{given.rows:.0e} rows of {given.keys:.0e} keys in {given.days} days, {given.workers:,} workers of one core: {panes:.2e} panes of {WIDTH_SECONDS // 60} minutes, "
          f"{3600 / WIDTH_SECONDS * PANE_BYTES:.0f} bytes for each key and hour; {partial:.2e} partial ones in {tasks:,} files.")


if __name__ == "__main__":
    main()
