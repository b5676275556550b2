"""What runs tasks: in this process, or on the workers of Dask, Spark or Ray.

An engine ships this package, with the extension's file in it, to its workers, repeats the tasks whose worker died or that raised, and
shows their progress: all with its own means. No engine is imported before it is asked for.
"""

from __future__ import annotations

import pickle
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from .tasks import Report, Task, work
from .worker import NAME, PACKAGE, ClusterError, extension

Run = Callable[[Sequence[Task]], Iterable[Report]]
"""Does every task, each somewhere, and gives their reports in any order, best as they come."""


def local() -> Run:
    """One task after the other, in this process."""
    return lambda tasks: map(work, tasks)


def dask(client: Any, *, retries: int = 2, progress: bool = False) -> Run:
    """The workers of a `distributed.Client`. A task whose worker dies is repeated as Dask's `allowed-failures` says."""
    import distributed
    from distributed.diagnostics.plugin import UploadFile

    # Not client.upload_file, which would replace this very module where the scheduler is a part of this process.
    if not client.scheduler.address.startswith("inproc:"):
        client.register_plugin(UploadFile(_package()), name=PACKAGE)

    def run(tasks: Sequence[Task]) -> Iterator[Report]:
        # As bytes, and by a function that travels by value, since the scheduler reads what it is given and may lack this package.
        futures = client.map(lambda packed: pickle.loads(packed)(), [pickle.dumps(partial(work, task)) for task in tasks],
                             retries=retries, pure=False)
        try:
            if progress:
                distributed.progress(futures, notebook=False)  # type: ignore[no-untyped-call]
            for future in distributed.as_completed(futures):  # type: ignore[no-untyped-call]
                yield future.result()
        finally:
            client.cancel(futures)

    return run


def spark(session: Any) -> Run:
    """The executors of a `SparkSession`, which repeats a task `spark.task.maxFailures` times; the master `local[n]` does so only as `local[n,4]`."""
    context = session.sparkContext
    context.addPyFile(_package())

    def run(tasks: Sequence[Task]) -> Iterator[Report]:
        if not tasks:
            return
        try:
            yield from context.parallelize(tasks, len(tasks)).map(work).collect()
        except Exception as error:  # Spark wraps what a worker raised into texts of many lines
            said = re.search(rf"ClusterError: ({re.escape(NAME)}: .*)", str(error))
            if said is None:
                raise
            raise ClusterError(said[1]) from None

    return run


def ray(*, retries: int = 3) -> Run:
    """The cluster that `ray.init(runtime_env={"py_modules": [duckdb_time_bucket]})` has connected to, which sends this package along.

    A task takes one of its processors.
    """
    import ray

    remote = ray.remote(max_retries=retries, retry_exceptions=True, num_cpus=1)(work)

    def run(tasks: Sequence[Task]) -> Iterator[Report]:
        waiting = [remote.remote(task) for task in tasks]
        try:
            while waiting:
                done, waiting = ray.wait(waiting)
                yield ray.get(done[0])
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        finally:
            for task in waiting:
                ray.cancel(task, force=True)

    return run


def _package() -> str:
    """This package as a zip, with the extension's file, for the workers that do not have it installed."""
    folder = Path(__file__).parents[1]
    target = Path(tempfile.mkdtemp(prefix=f"{PACKAGE}-"), f"{PACKAGE}.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted([*folder.rglob("*.py"), *folder.rglob("py.typed")]):
            packed.write(file, Path(PACKAGE, file.relative_to(folder)))
        if extension().is_file():
            packed.write(extension(), Path(PACKAGE, extension().name))
    return str(target)
