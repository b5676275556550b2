"""Panes and windows on a cluster that is there already: Dask, Spark or Ray.

Rows become partial panes, a file of them for each group of input files; panes are merged by key and make windows. Both steps
are tasks from files to files that need nothing of each other, so that an engine has only to run a list of them, on workers
that see the store's folder, and to repeat those whose worker died.

    from duckdb_time_bucket import cluster

    store = cluster.Store("panes", ts="ts", values=["temp"], width="5 minutes", keys=["sensor"])
    store.update("readings/*.parquet", cluster.dask(client))
    hours = store.windows(cluster.Rolling("1 hour"), cluster.dask(client))

A file's name says what it is made of, so what is there is not made again, and what a store holds is what its manifest names: a
file that was left behind, half or whole, is never read.
"""

from .engines import Run, dask, local, ray, spark
from .store import Store, Update
from .tasks import Report
from .windows import Gapfill, Hop, Made, Rolling, Tumble
from .worker import ClusterError, Settings

__all__ = ["ClusterError", "Gapfill", "Hop", "Made", "Report", "Rolling", "Run", "Settings", "Store", "Tumble", "Update",
           "dask", "local", "ray", "spark"]
