"""On Dask as sites run it: over TLS, growing and shrinking, restarted, and with results spilled to disk."""

from __future__ import annotations

import datetime
import ipaddress
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import LocalCluster
from distributed.security import Security
from numpy.typing import NDArray

from sdc_problems import load
from sdc_problems.errors import SDCError, SDCFailure
from sdc_problems.parallel import Serial, done_tasks
from sdc_problems.parallel._process import thread_count
from sdc_problems.parallel.cluster import TASK, DaskCluster
from sdc_problems.problems.generalization import PBGProblem

QUIET: dict[str, Any] = {"dashboard_address": None, "worker_dashboard_address": None, "silence_logs": 50}


@pytest.fixture(scope="module")
def lattice() -> PBGProblem:
    people = load("people")
    return PBGProblem(people.data, people.hierarchies, objectives=("k", "glm"), threads=1)


@pytest.fixture(scope="module")
def rows(lattice: PBGProblem) -> NDArray[Any]:
    low, high = lattice.xl.astype(int), lattice.xu.astype(int)
    return np.random.default_rng(4).integers(low, high + 1, (60, lattice.n_var)).astype(lattice.dtype)


@pytest.fixture(scope="module")
def expected(lattice: PBGProblem, rows: NDArray[Any]) -> bytes:
    return Serial(lattice).evaluate(rows)["F"].tobytes()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A self-made certificate for this machine and its key, as files."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    folder = tmp_path_factory.mktemp("tls")
    (folder / "cert.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    (folder / "key.pem").write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return str(folder / "cert.pem"), str(folder / "key.pem")


@pytest.mark.slow
def test_over_tls_with_certificates_of_the_site(
    lattice: PBGProblem, rows: NDArray[Any], expected: bytes, certificate: tuple[str, str]
) -> None:
    cert, key = certificate
    pair = {"cert": cert, "key": key}
    roles = {f"tls_{role}_{what}": pair[what] for role in ("scheduler", "worker", "client") for what in pair}
    security = Security(tls_ca_file=cert, require_encryption=True, **roles)
    configured = {
        "distributed.comm.tls.ca-file": cert,
        "distributed.comm.tls.client.cert": cert,
        "distributed.comm.tls.client.key": key,
        "distributed.comm.require-encryption": True,
    }
    with LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, protocol="tls://", security=security, **QUIET
    ) as site:
        assert site.scheduler_address.startswith("tls://")
        with dask.config.set(configured), DaskCluster(lattice, scheduler=site.scheduler_address) as there:
            assert there.evaluate(rows)["F"].tobytes() == expected
            there.forget()
        with pytest.raises(SDCError, match=r"tls://.*distributed\.comm\.tls"):
            DaskCluster(lattice, scheduler=site.scheduler_address, patience=5)


@pytest.mark.slow
def test_a_cluster_that_grows_from_nothing_and_shrinks(
    lattice: PBGProblem, rows: NDArray[Any], expected: bytes
) -> None:
    """An adaptive cluster starts without a worker; the problem goes to each that joins, in whichever run it does."""
    with LocalCluster(n_workers=0, threads_per_worker=1, processes=True, host="127.0.0.1", **QUIET) as site:
        site.adapt(minimum=0, maximum=2, interval="200ms", wait_count=1)
        with DaskCluster(lattice, scheduler=site.scheduler_address, workers=2) as there:
            assert there.evaluate(rows)["F"].tobytes() == expected
            first = set(there.workers())
            end = time.monotonic() + 120
            while there.workers() and time.monotonic() < end:  # idle workers go
                time.sleep(0.2)
            assert not there.workers()
            assert there.evaluate(rows)["F"].tobytes() == expected
            assert set(there.workers()).isdisjoint(first)
            there.forget()


@pytest.mark.slow
def test_results_that_a_worker_spills_to_disk_come_back_the_same(
    lattice: PBGProblem, rows: NDArray[Any], expected: bytes
) -> None:
    share = {"target": 1e-9, "spill": 1e-9, "pause": False, "terminate": False}
    spilling = {f"distributed.worker.memory.{what}": at for what, at in share.items()}
    with (
        dask.config.set(spilling),
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **QUIET) as site,
        DaskCluster(lattice, scheduler=site.scheduler_address) as there,
    ):
        assert there.evaluate(rows)["F"].tobytes() == expected
        assert there.client.submit(np.ones, 1_000_000, pure=False).result().sum() == 1_000_000
        there.forget()


def test_a_worker_in_the_process_that_gives_the_work_leaves_its_threads_alone(
    lattice: PBGProblem, rows: NDArray[Any], expected: bytes
) -> None:
    """numba ends with an error at its next compilation if it is told another number once its threads run."""
    before = dict(os.environ), thread_count(3)
    with (
        LocalCluster(n_workers=1, threads_per_worker=1, processes=False, **QUIET) as site,
        DaskCluster(lattice, scheduler=site.scheduler_address) as there,
    ):
        assert there.evaluate(rows)["F"].tobytes() == expected
        there.forget()
        assert list(done_tasks(abs, int, 3, scheduler=site.scheduler_address)) == [(i, i) for i in range(3)]
    assert (dict(os.environ), thread_count(3)) == before


def test_batches_are_as_large_as_what_rows_cost_calls_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all numbers of batches none has a shorter sum of tasks and of a worker's batch, by more than rounding."""
    monkeypatch.setattr(DaskCluster, "_width", lambda self: 1000)
    cluster = DaskCluster.__new__(DaskCluster)
    cluster._row = None
    assert len(cluster._cuts(2000)) == 2000  # four for each worker, as far as there are rows
    cluster._row = 0.02
    cuts = cluster._cuts(2000)
    assert [row for cut in cuts for row in range(cut.start, cut.stop)] == list(range(2000))
    cost = {m: m * TASK + 2000 * cluster._row / m for m in range(1, 2001)}
    assert cost[len(cuts)] < 1.05 * min(cost.values())


@contextmanager
def commands(port: int, folder: Path) -> Iterator[ExitStack]:
    """A scheduler at a port and a worker, as commands; killed at the end, or by closing what is yielded."""
    at = f"tcp://127.0.0.1:{port}"
    scheduler = [
        sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", str(port),
        "--no-dashboard",
    ]  # fmt: skip
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", at, "--nthreads", "1", "--no-dashboard"]
    with ExitStack() as stack:
        for command in (scheduler, worker):
            process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            stack.callback(process.wait)
            stack.callback(process.kill)
        yield stack


@pytest.mark.slow
def test_a_scheduler_that_is_restarted_gets_the_problem_again(
    lattice: PBGProblem, rows: NDArray[Any], expected: bytes, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with ExitStack() as open_, commands(port, tmp_path) as first:
        there = open_.enter_context(DaskCluster(lattice, scheduler=f"tcp://127.0.0.1:{port}", patience=120))
        assert there.evaluate(rows)["F"].tobytes() == expected
        first.close()
        with commands(port, tmp_path):
            assert there.evaluate(rows)["F"].tobytes() == expected
        there._patience = 1
        with pytest.raises(SDCFailure, match="no Dask scheduler answers"):
            there.evaluate(rows)
