"""MDAV, the univariate optimum and the memetic search: speed side by side, and how good at which time.

    SDC_DATA_HOME=… python benchmarks/tasks/bench_microaggregation.py speed [--before ENVIRONMENT/bin/python]
    python benchmarks/tasks/bench_microaggregation.py growth [--figure docs/figures/mdav-growth.png]
    SDC_DATA_HOME=… python benchmarks/tasks/bench_microaggregation.py large [--seconds 60]
    SDC_DATA_HOME=… python benchmarks/tasks/bench_microaggregation.py cells [--seconds 60] [--seeds 1 2] [--only eia,5]
    SDC_DATA_HOME=… python benchmarks/tasks/bench_microaggregation.py bound [--seconds 60] [--rounds 10] [--only eia,5]
    SDC_DATA_HOME=… python benchmarks/tasks/bench_microaggregation.py programs [--seconds 300] [--only eia,5]
    python benchmarks/tasks/bench_microaggregation.py blocks [--records 1000000] [--k 10] [--moves 3000] [--workers 1 2]

speed: the compiled MDAV beside MDAV as one writes it in numpy, in the same run and with the same labels; the univariate
optimum beside the plain dynamic program. --before names the Python of another environment, such as one with version
0.1.0: its MDAV goes through the same files in turn with this one, which says whether the groups are the same. The last
column is what the compiled R tool of the field was measured to need
on a machine of this class (2 cores): a quoted figure, not one of this run.
growth: MDAV on 10^3 to 10^6 records × 4, k = 5, normal and skewed; the scan beside it as far as it is bearable.
large: 100,000 records × 5, k = 10: MDAV, then the search in windows; largest memory of the process.
cells: the three reference files at k = 3, 5, 10 beside the figure each has to reach.
bound: the partition of a search, improved region by region for so many seconds; then the bound on all partitions, round
by round (k = 10: by semidefinite multipliers, without regions).
programs: the linear programs of a bound, each solved from where the last one stood and again from nothing.
blocks: `microaggregate_blocks` on a skewed file of ten attributes, with each number of workers; MDAV of a whole sample
of it beside the same in blocks; some blocks beside their own lower bound; how long 64 workers would take on paper.

Wall times depend on what else the machine does: CPU seconds are printed beside them.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import json
import pickle
import resource
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import pandas as pd
from plain import cpu, plain_mdav, skewed
from pymoo.optimize import minimize

from sdc_problems import MicroaggregationProblem, Microdata
from sdc_problems._kernel import Tiered
from sdc_problems.algorithms import MemeticMicroaggregation, microaggregate_blocks
from sdc_problems.algorithms.microaggregation.blocks import MOVES, Blocked, Groups, Task, cut
from sdc_problems.datasets import load
from sdc_problems.errors import SDCFailure
from sdc_problems.evaluators.information_loss.numeric import il_sse, sse
from sdc_problems.methods import (
    BoundedPartition,
    bounded_partition,
    lower_bound,
    mdav_kernel,
    microaggregate_univariate,
    nearest_bound,
    semidefinite_bound,
)
from sdc_problems.methods._kernels import mdav as mdav_kernels
from sdc_problems.methods.bounds import _lower
from sdc_problems.methods.bounds._relaxation import Relaxation
from sdc_problems.methods.partition._attributes import z_scores

TASK = 1.75e-3
"""Seconds of scheduler and client for a task of Dask, as measured by bench_cluster.py."""
QUOTED = {  # seconds of the compiled R tool
    ("census", 3): 0.012,
    ("eia", 3): 0.111,
    ("20,000 x 5", 3): 1.5,
    ("20,000 x 5", 10): 0.49,
    ("100,000 x 5", 10): 18.0,
}
TARGETS = {
    ("census", 3): 4.75,
    ("census", 5): 7.34,
    ("census", 10): 11.40,
    ("tarragona", 3): 14.57,
    ("tarragona", 5): 20.17,
    ("tarragona", 10): 30.10,
    ("eia", 3): 0.345,
    ("eia", 5): 0.725,
    ("eia", 10): 1.925,
}


def plain_univariate(x: np.ndarray, k: int) -> float:
    """SSE of the best cut of the sorted values into runs of k to 2k − 1."""
    ordered = np.sort(x)
    best = np.full(len(x) + 1, np.inf)
    best[0] = 0.0
    for end in range(k, len(x) + 1):
        for size in range(k, min(2 * k, end + 1)):
            run = ordered[end - size : end]
            best[end] = min(best[end], best[end - size] + ((run - run.mean()) ** 2).sum())
    return float(best[-1])


def normal(n: int, p: int = 5) -> np.ndarray:
    return z_scores(np.random.default_rng([n, p]).standard_normal((n, p)))


def table_of(name: str) -> np.ndarray:
    if " x " in name:
        n, p = (int(part.replace(",", "")) for part in name.split(" x "))
        return np.random.default_rng([n, p]).standard_normal((n, p))
    data = load(name).data
    return data.values(data.quasi_identifiers)


BEFORE = """
import hashlib, json, sys, time
import numpy as np
from sdc_problems.methods import mdav
try:
    from sdc_problems._kernel import Tiered
    Tiered.patience = (0.0, 0.0)  # compiled code from the first call on
except ImportError:
    pass
mdav(np.random.default_rng(1).standard_normal((200, 5)), 3)
mdav(np.random.default_rng(1).standard_normal((2000, 5)), 3)
for line in sys.stdin:
    path, k = json.loads(line)
    X = np.load(path)
    begin = time.process_time()
    labels = mdav(X, k)
    took = time.process_time() - begin
    print(json.dumps([took, hashlib.sha256(labels.astype(np.int64).tobytes()).hexdigest()]), flush=True)
"""


def before(interpreter: str) -> None:
    """MDAV of this environment and of another, in turn in one run: each in a process of its own."""
    sides = [
        subprocess.Popen([python, "-P", "-c", BEFORE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for python in (sys.executable, interpreter)
    ]
    print(f"{'MDAV':14} {'k':>3} {'now':>10} {'before':>10} {'times':>7}  same groups")
    with tempfile.TemporaryDirectory() as folder:
        for name, k in QUOTED:
            path = f"{folder}/{name}.npy"
            np.save(path, table_of(name))
            least, groups = [np.inf, np.inf], ["", ""]
            for _ in range(2 if name.startswith("100,000") else 7):
                for side, process in enumerate(sides):
                    assert process.stdin is not None
                    assert process.stdout is not None
                    process.stdin.write(json.dumps([path, k]) + "\n")
                    process.stdin.flush()
                    took, groups[side] = json.loads(process.stdout.readline())
                    least[side] = min(least[side], took)
            same = "yes" if groups[0] == groups[1] else "NO"
            print(f"{name:14} {k:3} {least[0]:9.4f}s {least[1]:9.4f}s {least[1] / least[0]:6.1f}x  {same}", flush=True)
    for process in sides:
        process.communicate()
    print()


def speed(interpreter: str | None) -> None:
    if interpreter:
        before(interpreter)
    files = {name: z_scores(load(name).data.values(load(name).data.quasi_identifiers)) for name in ("census", "eia")}
    files |= {"20,000 x 5": normal(20_000), "100,000 x 5": normal(100_000)}
    mdav_kernel(files["census"][:20].copy(), 3)
    print(f"{'MDAV':14} {'k':>3} {'compiled':>10} {'numpy':>10} {'times':>7} {'R, quoted':>10} {'times':>7}  same SSE")
    for (name, k), quoted in QUOTED.items():
        Z = files[name]
        ours = cpu(lambda Z=Z, k=k: mdav_kernel(Z, k), times=5 if len(Z) < 50_000 else 2)
        line = f"{name:14} {k:3} {ours:9.4f}s"
        if len(Z) < 50_000:
            plain = cpu(lambda Z=Z, k=k: plain_mdav(Z, k), times=1)
            same = np.isclose(sse(Z, mdav_kernel(Z, k)), sse(Z, plain_mdav(Z, k)), rtol=1e-9)
            line += (
                f" {plain:9.3f}s {plain / ours:6.1f}x {quoted:9.3f}s {quoted / ours:6.1f}x  {'yes' if same else 'NO'}"
            )
        else:
            line += f" {'-':>10} {'-':>7} {quoted:9.3f}s {quoted / ours:6.1f}x  -"
        print(line, flush=True)
    x = np.random.default_rng(1).standard_normal(1_000_000)
    microaggregate_univariate(x[:100], 3)
    print("\nunivariate optimum")
    for k in (3, 10, 100, 5_000):
        took = cpu(lambda k=k: microaggregate_univariate(x, k), times=3)
        print(f"1,000,000 values, k = {k:5,}: {took:.3f} s")
    part = x[:5_000]
    for k in (3, 20):
        ours = cpu(lambda k=k: microaggregate_univariate(part, k), times=3)
        started = time.process_time()
        optimum = plain_univariate(part, k)
        plain = time.process_time() - started
        found = sse(part[:, None], microaggregate_univariate(part, k))
        print(
            f"5,000 values, k = {k}: {ours:.4f} s; plain dynamic program {plain:.2f} s ({plain / ours:.0f}x);"
            f" SSE {found:.10g} and {optimum:.10g}"
        )


def growth(figure: str | None) -> None:
    """CPU seconds of MDAV from a thousand to a million records, by the tree and by the scan."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for n in (1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000):
        plain = np.random.default_rng(n).standard_normal((n, 4))
        for name, X in (("normal", plain), ("skewed", np.exp(plain))):
            Z = z_scores(X)
            mdav_kernel(Z[:2_000], 5)
            took = cpu(lambda Z=Z: mdav_kernel(Z, 5), times=3 if n < 10**6 else 1)
            lines.setdefault(name, []).append((n, took))
            line = f"{n:9,} x 4, k = 5, {name}: {took:8.4f} s"
            if n <= 100_000 and name == "normal":
                before = mdav_kernels.TREE_FROM
                mdav_kernels.TREE_FROM = n + 1
                scanned = cpu(lambda Z=Z: mdav_kernel(Z, 5), times=1)
                mdav_kernels.TREE_FROM = before
                lines.setdefault("normal, every record looked at", []).append((n, scanned))
                line += f"; every record looked at {scanned:8.4f} s ({scanned / took:.1f} times as long)"
            print(line, flush=True)
    if figure:
        import matplotlib.pyplot as plt

        axes = plt.figure(figsize=(6, 4)).gca()
        for name, points in lines.items():
            axes.loglog(*zip(*points, strict=True), "--" if "looked" in name else "o-", label=name)
        axes.set(xlabel="records", ylabel="CPU seconds", title="MDAV, 4 attributes, k = 5")
        axes.grid(alpha=0.3)
        axes.legend()
        plt.savefig(figure, bbox_inches="tight", dpi=110)


def problem_of(X: np.ndarray, k: int) -> MicroaggregationProblem:
    names = [f"v{j}" for j in range(X.shape[1])]
    return MicroaggregationProblem(Microdata.from_frame(pd.DataFrame(X, columns=names), quasi_identifiers=names), k)


def large(limit: float, n: int, k: int) -> None:
    X = np.random.default_rng(n).standard_normal((n, 5))
    problem = problem_of(X, k)
    V = problem.engine.V
    mdav_kernel(V[:100].copy(), k)
    started, cpu = time.perf_counter(), time.process_time()
    before = sse(V, mdav_kernel(V, k))
    print(f"{n:,} x 5, k = {k}: MDAV {time.perf_counter() - started:.2f} s (CPU {time.process_time() - cpu:.2f} s)")
    started, cpu = time.perf_counter(), time.process_time()
    result = minimize(problem, MemeticMicroaggregation(time_limit=limit, workers=2), seed=1)
    line = result.algorithm.trajectory
    sizes = np.bincount(result.X)
    print(
        f"search: {line[-1].seconds:.1f} s (CPU {time.process_time() - cpu:.1f} s, with compiling and measuring"
        f" {time.perf_counter() - started:.1f} s), {line[-1].moves:,} moves,"
        f" SSE {100 * (1 - result.F[0] / before):.2f} % below MDAV; groups of {sizes.min()} to {sizes.max()}"
    )
    for share in (0.1, 0.25, 0.5):
        at = max(
            (step for step in line if step.seconds <= share * limit), key=lambda step: step.seconds, default=line[0]
        )
        print(f"  after {at.seconds:5.1f} s: {100 * (1 - at.sse / before):.2f} %")
    print(f"largest memory of the process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


def cells(limit: float | None, moves: int | None, seeds: list[int], only: str | None) -> None:
    print("file         k  seed      loss  target          groups    wall     CPU           moves")
    for (name, k), target in TARGETS.items():
        if only and only != f"{name},{k}":
            continue
        problem = MicroaggregationProblem(load(name).data, k)
        problem.engine.measure(np.zeros((1, problem.n_var), dtype=int))
        for seed in seeds:
            cpu = time.process_time()
            search = MemeticMicroaggregation(time_limit=limit, move_limit=moves, workers=2)
            result = minimize(problem, search, seed=seed)
            cpu = time.process_time() - cpu
            loss = il_sse(problem.engine.V, result.X)
            last, sizes = result.algorithm.trajectory[-1], np.bincount(result.X)
            print(
                f"{name:10} {k:3} {seed:5} {loss:9.4f} {target:7g}  {'ok' if loss <= target else 'MISS':4}"
                f" {sizes.min():3} to {sizes.max():2} {last.seconds:6.1f}s {cpu:6.1f}s {last.moves:15,}",
                flush=True,
            )


class Told:
    """Prints what is known after every ten seconds of regions, and after each round of the bound."""

    def __init__(self, percent: float) -> None:
        self.percent, self.began, self.shown = percent, time.perf_counter(), 0.0

    def __call__(self, step: BoundedPartition) -> None:
        seconds = time.perf_counter() - self.began
        if not step.bound.rounds and seconds < self.shown + 10.0:
            return
        self.shown = seconds
        line = f"{seconds:7.1f} s: best {step.sse * self.percent:.5f}"
        if step.bound.rounds:
            says = "no partition below" if step.bound.proven else "all groups were too many, an estimate:"
            line += (
                f"; round {step.bound.rounds}: {says} {step.bound.sse * self.percent:.5f};"
                f" {step.bound.groups:,} groups, {step.bound.cuts:,} cuts"
            )
        print(line, flush=True)


def bound(only: str | None, moves: int | None, rounds: int, limit: float) -> None:
    """Lower bound on the loss, beside what the search finds."""
    for name, k in TARGETS:
        if only and only != f"{name},{k}":
            continue
        problem = MicroaggregationProblem(load(name).data, k)
        search = MemeticMicroaggregation(move_limit=moves or 400_000_000, workers=2)
        found = minimize(problem, search, seed=1)
        percent = 100.0 / problem.engine.sst
        print(f"{name}, k = {k}: the search found {found.F[0] * percent:.5f}", flush=True)
        cpu = time.process_time()
        least = nearest_bound(problem.engine.V, k, standardize=False)
        took = time.process_time() - cpu
        print(f"  no partition below {least * percent:.5f} by distances; {took:.0f} CPU s", flush=True)
        cpu = time.process_time()
        done = bounded_partition(
            problem.engine.V, k, labels=found.X, standardize=False, rounds=rounds, time_limit=limit,
            steps=50_000_000 if k < 10 else 5_000_000, progress=Told(percent),
        )  # fmt: skip
        print(
            f"  no partition below {done.bound.sse * percent:.5f} (in {done.bound.rounds} rounds and"
            f" {done.bound.seconds:.0f} s); best {done.sse * percent:.5f},"
            f" {100 * (done.sse / done.bound.sse - 1):.3f} % above;"
            f" {time.process_time() - cpu:.0f} CPU s",
            flush=True,
        )


def programs(only: str | None, moves: int | None, rounds: int, limit: float) -> None:
    """Time of the linear programs of a bound: kept, and each from nothing."""
    from highspy import Highs

    class Both(Relaxation):
        solved, kept, anew = 0, 0.0, 0.0

        def solve(self) -> float:
            began = time.process_time()
            value = super().solve()
            middle = time.process_time()
            other = Highs()
            other.setOptionValue("output_flag", False)
            other.setOptionValue("threads", 1)
            other.passModel(self._program.getModel())
            other.run()
            assert abs(other.getInfo().objective_function_value - value) < 1e-6 * value
            Both.solved += 1
            Both.kept += middle - began
            Both.anew += time.process_time() - middle
            return value

    _lower.Relaxation = Both
    for name, k in TARGETS:
        if k == 10 or (only and only != f"{name},{k}"):
            continue
        problem = MicroaggregationProblem(load(name).data, k)
        found = minimize(problem, MemeticMicroaggregation(move_limit=moves or 100_000_000, workers=2), seed=1)
        Both.solved, Both.kept, Both.anew = 0, 0.0, 0.0
        done = lower_bound(
            problem.engine.V, k, labels=found.X, standardize=False, rounds=rounds, time_limit=limit, steps=50_000_000
        )
        print(
            f"{name}, k = {k}: no partition below {100 * done.sse / problem.engine.sst:.5f}, {done.rounds} rounds;"
            f" {Both.solved} programs: kept {Both.kept:.1f} CPU s, from nothing {Both.anew:.1f} CPU s"
            f" ({Both.anew / Both.kept:.1f} times as long)",
            flush=True,
        )


def blocks(records: int, k: int, moves: int, workers: list[int], sample: int, bounded: int) -> None:
    """Microaggregation of a large file in blocks: by threads, processes and a cluster of this machine, and on paper."""
    own = 0.0
    X = skewed(np.random.default_rng(1), records, 10)
    percent = 100.0 / X.size
    microaggregate_blocks(X[:2_000], k, moves=10)  # compiles
    took: dict[str, float] = {}
    for n in workers:
        ways: dict[str, dict[str, Any]] = {f"{n} thread(s)": {"threads": n}}
        if n > 1:
            ways |= {f"{n} processes": {"workers": n}, f"{n} workers of Dask": {"workers": n, "scheduler": "local"}}
        for way, options in ways.items():
            began, cpu = time.perf_counter(), time.process_time()
            found = microaggregate_blocks(X, k, moves=moves, **options)
            took[way], cpu = time.perf_counter() - began, time.process_time() - cpu
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            if "workers" in options:
                memory += n * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
            beside = cpu - (0.0 if "workers" in options else found.seconds.sum())
            own = beside if n == 1 else own
            digest = hashlib.sha256(found.labels.tobytes()).hexdigest()[:8]
            faster = took[f"{workers[0]} thread(s)"] / took[way]
            print(
                f"{records:,} x 10, k = {k}, {way}: {took[way]:.1f} s, {faster:.2f} times as fast as the first; CPU"
                f" {found.seconds.sum():.1f} s in {len(found.sizes)} tasks and {beside:.1f} s beside them; at most"
                f" {memory / 2**20:.2f} GiB; loss {found.sse * percent:.4f} %, MDAV in the parts"
                f" {found.mdav_sse * percent:.4f} %; groups {digest}",
                flush=True,
            )
    on_paper(found, X, k, own)
    part = z_scores(X[np.random.default_rng(2).permutation(records)[:sample]])
    began = time.process_time()
    whole_file = sse(part, mdav_kernel(part, k))
    middle = time.process_time()
    in_blocks = microaggregate_blocks(part, k, moves=moves)
    print(
        f"sample of {sample:,}: MDAV {100 * whole_file / part.size:.4f} % in {middle - began:.1f} CPU s, in blocks"
        f" {100 * in_blocks.sse / part.size:.4f} % in {in_blocks.seconds.sum():.1f} CPU s"
        f" ({100 * (1 - in_blocks.sse / whole_file):.1f} % less)",
        flush=True,
    )
    Z = z_scores(X)
    groups = Groups.of(Z, found.labels)
    pieces = cut(groups.means, groups.counts / len(Z), bounded / len(Z))
    total, least = 0.0, 0.0
    for i in np.random.default_rng(3).permutation(len(pieces))[:5]:
        inside = groups.members(pieces[i])
        here = np.unique(found.labels[inside], return_inverse=True)[1]
        proven = "by column generation"
        try:
            below = lower_bound(
                Z[inside], k, labels=here, standardize=False, rounds=6, time_limit=60.0, steps=50_000_000
            )
            reached = below.sse if below.proven else 0.0
        except SDCFailure:
            reached = 0.0
        if not reached:
            proven, reached = "by multipliers", semidefinite_bound(Z[inside], k, labels=here, standardize=False)
        error = sse(np.ascontiguousarray(Z[inside]), here)
        open_ = 100 * (error / reached - 1)
        print(f"  block of {len(inside)} records: {open_:.2f} % above its bound {proven}", flush=True)
        total, least = total + error, least + reached
    if total:
        print(f"in these blocks the loss is {100 * (total / least - 1):.2f} % above the bound")


def on_paper(found: Blocked, X: np.ndarray, k: int, own: float) -> None:
    """Seconds with more workers: tasks go out one after the other, to whoever is free; then the next turn."""
    wire = 125e6  # bytes a second, of a network of 1 Gbit/s
    task = Task(np.ascontiguousarray(X[: max(found.sizes)]), np.zeros(max(found.sizes), np.int32), k, 1, (0, 1, 1))
    began = time.process_time()
    size = len(pickle.dumps(task))
    packing = (time.process_time() - began) / size
    turns, left = [], 0
    for i in range(1, len(found.sizes) + 1):
        if found.sizes[left:i].sum() == len(X):
            turns.append(slice(left, i))
            left = i
    print(
        f"a task has at most {size / 1e6:.1f} MB: {size / wire + size * packing:.3f} s on its way, {TASK * 1e3} ms more"
    )
    alone = found.seconds.sum() + own
    for workers in (1, 2, 16, 64):
        total = own
        for turn in turns:
            free, sent, last = [0.0] * workers, 0.0, 0.0
            for seconds_of, n in zip(found.seconds[turn], found.sizes[turn], strict=True):
                sent += TASK + (8 * X.shape[1] + 4) * n * (1 / wire + packing)
                begins = max(sent, heapq.heappop(free))
                heapq.heappush(free, begins + seconds_of)
                last = max(last, begins + seconds_of)
            total += last
        print(f"  {workers:3} workers on paper: {total:7.1f} s, {alone / total:.1f} times as fast as one", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "growth", "large", "cells", "bound", "programs", "blocks"))
    parser.add_argument("--seconds", type=float, default=60.0, help="time limit of each search, or bound")
    parser.add_argument("--moves", type=int, help="cells: a limit of moves instead; blocks: proposals per record")
    parser.add_argument(
        "--workers", type=int, nargs="+", default=[1, 2], help="blocks: threads, processes and workers of Dask"
    )
    parser.add_argument("--sample", type=int, default=50_000, help="blocks: records that MDAV is compared on")
    parser.add_argument("--bounded", type=int, default=300, help="blocks: records of a block that is bounded")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--rounds", type=int, default=10, help="bound, programs: of cuts")
    parser.add_argument("--only", help="cells, bound, programs: one of them, as in eia,5")
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--before", help="speed: the Python of another environment to compare MDAV with")
    parser.add_argument("--figure", help="growth: write the curves here")
    given = parser.parse_args()
    Tiered.patience = (0.0, 0.0)  # compiled code from the first call on
    if given.what == "speed":
        speed(given.before)
    elif given.what == "growth":
        growth(given.figure)
    elif given.what == "large":
        large(given.seconds, given.records, given.k)
    elif given.what == "blocks":
        blocks(given.records, given.k, given.moves or MOVES, given.workers, given.sample, given.bounded)
    elif given.what == "bound":
        bound(given.only, given.moves, given.rounds, given.seconds)
    elif given.what == "programs":
        programs(given.only, given.moves, given.rounds, given.seconds)
    else:
        cells(None if given.moves else given.seconds, given.moves, given.seeds, given.only)


if __name__ == "__main__":
    main()
