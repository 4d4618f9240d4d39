"""Several processes, one ledger: each plays its own blocks, and one that died is started again."""

import os
import signal
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

from privacy_audit.devices import Hosts

SMALL = (
    "--model=fully_connected --num_examples=40 --batch_size=8 --steps=2 --noise_multiplier=1 --seed=7 "
    "--adversary=api_access --trials=600 --chunk=64 --cpu_devices=1"
).split()


@pytest.mark.parametrize(("count", "index"), [(0, 0), (2, 2), (2, -1)])
def test_impossible_numbers_are_one_line(count, index):
    with pytest.raises(ValueError, match="num_processes must be >= 1|process_id must be in 0 … 1"):
        Hosts(None, count, index)


def test_processes_share_the_blocks_without_overlap():
    parts = [Hosts(None, 3, index).mine(range(10)) for index in range(3)]
    assert sorted(number for part in parts for number in part) == list(range(10))


def start(out, index, port):
    command = [sys.executable, "-m", "privacy_audit.audit", *SMALL, f"--out={out}", "--num_processes=2"]
    command += [f"--process_id={index}", f"--coordinator_address=127.0.0.1:{port}"]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_process_that_dies_is_replaced_by_the_same_command(tmp_path):
    """Two processes on loopback; the second is killed after its first block, and both end after its restart."""
    shared, alone = tmp_path / "shared", tmp_path / "alone"
    port = free_port()
    first, second = (start(shared, index, port) for index in (0, 1))
    while not list(shared.glob("w1-*.npz")) and second.poll() is None:
        time.sleep(0.01)
    os.kill(second.pid, signal.SIGKILL)
    second.communicate()
    first.kill()
    first.communicate()
    port = free_port()
    again = [start(shared, index, port) for index in (0, 1)]
    said = [process.communicate(timeout=400)[1] for process in again]
    assert [process.returncode for process in again] == [0, 0], said
    assert "resumed" in "".join(said)
    command = [sys.executable, "-m", "privacy_audit.audit", *SMALL, f"--out={alone}"]
    subprocess.run(command, check=True, capture_output=True)
    names = sorted(path.name for path in alone.glob("w*.npz"))
    assert sorted(path.name for path in shared.glob("*.npz")) == names
    for name in names:
        with np.load(alone / name) as a, np.load(shared / name) as b:
            for array in a.files:
                np.testing.assert_allclose(a[array], b[array], rtol=0, atol=1e-5)
    assert (shared / "report.json").exists()
