"""A nested study of a Parquet file larger than memory, against pyarrow that reads the file once.

Each side runs in a process of its own, so that peak memory is that side's alone; the file is made first, in chunks, in
a temporary folder that is removed at the end. Both sides run twice, in turn, and the faster time of each counts: the
first to read a file may find it on disk, the next in memory.

    python -m benchmarks.streaming [--rows 20000000] [--folder DIR]
    python -m benchmarks.streaming --make FILE, then --file FILE: made at one time and measured at another
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

COLUMNS, ALPHAS = 50, 17
PIECE = 250_000  # rows that are made at a time
MOST_TIMES, MOST_MEMORY = 3.0, 1.5e9


def main() -> int:
    """Make the file, run both sides, print the figures; 1 where a promise is broken."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--folder", default=None, help="where the file is made; removed afterwards")
    parser.add_argument("--make", metavar="FILE", help="only make the file, here")
    parser.add_argument("--file", metavar="FILE", help="measure on this file, made before; it is not removed")
    parser.add_argument("--side", choices=("read", "study", "sample"), help=argparse.SUPPRESS)
    parser.add_argument("--path", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side:
        print(json.dumps({"read": read_once, "study": study, "sample": compare_sample}[given.side](given.path)))
        return 0
    if given.file:
        return measure(Path(given.file))
    if given.make:
        return make(Path(given.make), given.rows)
    with tempfile.TemporaryDirectory(prefix="heldout-streaming-", dir=given.folder) as folder:
        path = Path(folder) / "data.parquet"
        return make(path, given.rows) or measure(path)


def make(path: Path, rows: int) -> int:
    """Write the file where the disk carries it."""
    needed, free = rows * (COLUMNS + 1) * 8 * 1.15, shutil.disk_usage(path.parent).free
    if needed > 0.8 * free:
        print(f"{needed / 1e9:.1f} GB are needed and {free / 1e9:.1f} GB are free: fewer --rows, another --folder.")
        return 1
    started = perf_counter()
    write_file(path, rows)
    print(f"{rows:,} rows × {COLUMNS} columns written in {perf_counter() - started:.0f} s")
    return 0


def measure(path: Path) -> int:
    """Both sides in turn, and the comparison of a sample."""
    runs = [in_process(side, path) for side in ("read", "study", "read", "study")]
    print(f"{runs[0]['rows']:,} rows × {COLUMNS} columns, {path.stat().st_size / 1e9:.2f} GB of Parquet")
    return report(runs, in_process("sample", path))


def report(runs: list[dict[str, Any]], sample: dict[str, Any]) -> int:
    """Print both sides and whether the promises hold."""
    read = min(run["seconds"] for run in runs[::2])
    best = min(runs[1::2], key=lambda run: run["seconds"])
    times, memory = best["seconds"] / read, max(run["memory"] for run in runs[1::2])
    print(f"pyarrow reads it once                  {read:7.2f} s   peak {runs[0]['memory'] / 1e9:.2f} GB")
    print(f"nested 5×5 scaler+ridge, {ALPHAS} alphas      {best['seconds']:7.2f} s   peak {memory / 1e9:.2f} GB")
    print(f"                                       {times:7.2f} times (at most {MOST_TIMES:.0f}), "
          f"memory at most {MOST_MEMORY / 1e9:.1f} GB")  # fmt: skip
    print(f"risk {best['risk']:.6g}, {best['passes']} pass, spot check {best['check']:.1e}")
    print(f"{sample['rows']:,} rows of it in memory, same folds: losses differ by {sample['difference']:.1e}, "
          f"choices {'equal' if sample['choices'] else 'DIFFER'}")  # fmt: skip
    good = times <= MOST_TIMES and memory <= MOST_MEMORY and sample["difference"] <= 1e-9 and sample["choices"]
    print("holds" if good else "DOES NOT HOLD")
    return 0 if good else 1


def in_process(side: str, path: Path) -> dict[str, Any]:
    """One side in a process of its own."""
    call = [sys.executable, "-m", "benchmarks.streaming", "--side", side, "--path", str(path)]
    # pyarrow takes its number of threads from here too, and is to have them all.
    environ = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True, env=environ)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def write_file(path: Path, rows: int) -> None:
    """Columns of several sizes and offsets, a few of them correlated, and a linear target with noise."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    random = np.random.default_rng(0)
    scale, offset = random.uniform(0.1, 10.0, COLUMNS), random.normal(size=COLUMNS) * 20
    weights = random.normal(size=COLUMNS) / scale
    writer = None
    for start in range(0, rows, PIECE):
        X = random.normal(size=(min(PIECE, rows - start), COLUMNS))
        X[:, 1:] += 0.5 * X[:, :-1]
        X = X * scale + offset
        y = X @ weights + 5 * random.normal(size=len(X))
        table = pa.table({**{f"x{j}": X[:, j] for j in range(COLUMNS)}, "y": y})
        writer = writer or pq.ParquetWriter(path, table.schema, use_dictionary=False)  # no number repeats
        writer.write_table(table)
    assert writer is not None
    writer.close()


def read_once(path: str) -> dict[str, Any]:
    """Every column of every row decoded and let go: pyarrow's own batches, on all its threads.

    Without `pre_buffer`, which would keep the whole file in memory and takes several times as long.
    """
    import pyarrow.parquet as pq

    started = perf_counter()
    with pq.ParquetFile(path, pre_buffer=False) as file:
        rows = sum(batch.num_rows for batch in file.iter_batches(batch_size=1 << 16, use_threads=True))
    return {"seconds": perf_counter() - started, "memory": peak(), "rows": rows}


def learner() -> Any:
    """The learner of the study."""
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import heldout as ho

    space = {"ridge__alpha": ho.log_grid(-6, 2, ALPHAS)}
    return ho.Tuned(make_pipeline(StandardScaler(), Ridge()), space, validation=ho.KFold(5))


def study(path: str) -> dict[str, Any]:
    """The nested study, from the call to the result."""
    import heldout as ho

    tuned = learner()
    started = perf_counter()
    result = ho.evaluate(tuned, path, target="y", test=ho.KFold(5))
    seconds = perf_counter() - started
    check = result.record.plan["checks"][0]["difference"]
    return {
        "seconds": seconds,
        "memory": peak(),
        "risk": result.risk.value,
        "passes": result.record.about["passes"],
        "check": check,
    }


def compare_sample(path: str) -> dict[str, Any]:
    """The first rows as a stream and in memory, with the same rows in every fold."""
    import numpy as np
    import pyarrow.parquet as pq

    from benchmarks.streamed_in_memory import both_ways

    with pq.ParquetFile(path) as file:
        head = next(file.iter_batches(batch_size=100_000)).to_pandas()
    with tempfile.TemporaryDirectory() as folder:
        name = f"{folder}/sample.parquet"
        head.to_parquet(name)
        streamed, memory = both_ways(learner(), name, head)
    gaps = [
        float(np.max(np.abs(streamed.tables[key].losses / table.losses - 1)))
        for key, table in memory.tables.panels.items()
    ]
    same = all(streamed.study.chosen[key].candidate == one.candidate for key, one in memory.study.chosen.items())
    return {"rows": len(head), "difference": max(gaps), "choices": same}


def peak() -> int:
    """Bytes of memory this process had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    sys.exit(main())
