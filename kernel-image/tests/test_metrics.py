"""What a sandbox uses: readings of control groups (v1, v2), network devices and folders, and the verb for them."""

import os
import shutil
import signal
from pathlib import Path

import pytest
from client import PATIENCE, Client
from hypothesis import given
from hypothesis import strategies as st
from supervisors import Running

from sandglass_supervisor.metrics.metrics import CpuRate, scratch_folders
from sandglass_supervisor.metrics.network_traffic import Traffic, parse_devices, traffic
from sandglass_supervisor.processes.cgroup import Cgroup, Cpu, Memory, Pids, parse_number, parse_table, quota

RECORDED = Path(__file__).with_name("cgroup")


def copy_of(version: str, folder: Path) -> Path:
    return Path(shutil.copytree(RECORDED / version, folder / "cgroup"))


def test_cgroup_v1() -> None:
    group = Cgroup(str(RECORDED / "v1"))
    assert group.memory() == Memory(133210112 - 274432, 536870912, 133230592, 0, 0)
    assert (group.cpu(), group.pids()) == (Cpu(9.945521251, 1.5), Pids(29, None))


def test_cgroup_v2() -> None:
    group = Cgroup(str(RECORDED / "v2"))
    assert group.memory() == Memory(88260608 - 20971520, 536870912, 98566144, 3, 49152)
    assert (group.cpu(), group.pids()) == (Cpu(4.2, 0.5), Pids(9, 1024))


def test_controllers_of_v1_may_share_a_folder(tmp_path: Path) -> None:
    root = copy_of("v1", tmp_path)
    (root / "cpu").rename(root / "cpu,cpuacct")
    (root / "cpuacct" / "cpuacct.usage").rename(root / "cpu,cpuacct" / "cpuacct.usage")
    assert Cgroup(str(root)).cpu() == Cpu(9.945521251, 1.5)


def test_v1_without_limits(tmp_path: Path) -> None:
    root = copy_of("v1", tmp_path)
    (root / "memory" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    (root / "cpu" / "cpu.cfs_quota_us").write_text("-1\n")
    group = Cgroup(str(root))
    assert (group.memory().limit, group.cpu().limit, group.pids().limit) == (None, None, None)


def test_v2_without_limits_on_a_linux_without_peak(tmp_path: Path) -> None:
    root = copy_of("v2", tmp_path)
    (root / "cpu.max").write_text("max 100000\n")
    (root / "memory.max").write_text("max\n")
    (root / "pids.max").write_text("max\n")
    (root / "memory.peak").unlink()
    group = Cgroup(str(root))
    assert group.memory()[1:3] == (None, None)
    assert (group.cpu(), group.pids()) == (Cpu(4.2, None), Pids(9, None))


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_processes_killed_for_memory_are_counted(version: str, tmp_path: Path) -> None:
    root = copy_of(version, tmp_path)
    file = root / ("memory.events" if version == "v2" else "memory/memory.oom_control")
    file.write_text("under_oom 0\noom_kill 7\n")
    group = Cgroup(str(root))
    assert (group.memory().oom_kills, group.oom_kills()) == (7, 7)


def test_cgroup_that_says_nothing(tmp_path: Path) -> None:
    group = Cgroup(str(tmp_path))
    assert group.memory() == Memory(None, None, None, None)
    assert (group.cpu(), group.pids(), group.oom_kills()) == (Cpu(None, None), Pids(None, None), 0)


@given(st.text())
def test_account_parsers_take_anything(text: str) -> None:
    assert parse_number(text) is None or isinstance(parse_number(text), int)
    assert all(isinstance(value, int) for value in parse_table(text).values())
    assert all(isinstance(count, int) for count in parse_devices(text))


def test_a_quota_needs_a_period() -> None:
    assert (quota(150_000, 100_000), quota(None, 100_000), quota(1, 0), quota(1, None)) == (1.5, None, None, None)


def test_bytes_of_all_devices_but_the_loopback() -> None:
    assert parse_devices((RECORDED / "net-dev").read_text()) == Traffic(6417887115 + 1000, 15894631 + 2000)


def test_devices_that_are_not_told(tmp_path: Path) -> None:
    assert traffic(str(tmp_path / "none")) == Traffic(None, None)


def test_cpu_rate_is_of_the_last_seconds_however_often_it_is_asked() -> None:
    rate = CpuRate(0, 1.0)
    assert rate.percent(2, 2.0) == 50
    rate.sample(5, 1.0)
    rate.sample(10, 1.0)
    # An hour's average would be near 0, and an earlier question must not shorten the time that this one is about.
    assert rate.percent(11, 7.0) == 100
    assert rate.percent(11, 7.0) == 100


def test_cpu_rate_without_readings() -> None:
    assert CpuRate(0, None).percent(1, 1.0) is None
    assert CpuRate(0, 1.0).percent(1, None) is None
    assert CpuRate(0, 5.0).percent(1, 1.0) == 0


def test_disk_is_the_workspace_and_a_temporary_volume() -> None:
    # /proc is a mount point everywhere.
    assert scratch_folders("/workspace", "/proc") == ["/workspace", "/proc"]
    assert scratch_folders("/workspace", "/workspace-not-mounted") == ["/workspace"]
    assert scratch_folders("/proc/below", "/proc") == ["/proc/below"]


def disk_reaches(client: Client, size: int) -> bool:
    return (client.ask("metrics")["disk_bytes"] or 0) >= size


def test_the_verb_tells_all(spare: Running) -> None:
    client = spare.ready()
    (spare.workspace / "big").write_bytes(bytes(3_000_000))
    client.until(lambda: disk_reaches(client, 3_000_000), PATIENCE, "the count of the disk")
    metrics = client.ask("metrics")
    assert set(metrics) == {
        "cpu_seconds",
        "cpu_usage_percent",
        "cpu_limit",
        "memory_bytes",
        "memory_limit_bytes",
        "memory_peak_bytes",
        "oom_kills",
        "disk_bytes",
        "disk_limit_bytes",
        "pids",
        "pids_limit",
        "network_received_bytes",
        "network_sent_bytes",
        "kernels",
        "uptime_s",
    }
    assert metrics["uptime_s"] > 0
    assert metrics["kernels"] == 1
    assert min(metrics["network_received_bytes"], metrics["network_sent_bytes"]) >= 0


def test_the_code_gets_its_portion_of_the_limits(tmp_path: Path) -> None:
    root = copy_of("v1", tmp_path)
    running = Running(tmp_path, SANDGLASS_CGROUP_ROOT=str(root), PYTHON_CPU_COUNT="7")
    ask = "import os, resource; (os.environ['OMP_NUM_THREADS'], os.environ['PYTHON_CPU_COUNT'], {})"
    try:
        client = running.ready()
        output = client.run("portion", ask.format("resource.getrlimit(resource.RLIMIT_NPROC)"))
        assert output.only("result").blob == b"('2', '7', (256, 256))"
        assert client.ask("metrics")["pids_limit"] == 256
    finally:
        running.stop()


@pytest.mark.slow
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_the_verb_reads_the_recorded_accounts(version: str, tmp_path: Path) -> None:
    root = copy_of(version, tmp_path)
    running = Running(
        tmp_path, SANDGLASS_CGROUP_ROOT=str(root), SANDGLASS_DISK_LIMIT_BYTES="4096", SANDGLASS_MAX_PROCESSES="2000"
    )
    try:
        client = running.ready()
        metrics = client.ask("metrics")
        told = {
            "v1": {"cpu_limit": 1.5, "memory_peak_bytes": 133230592, "oom_kills": 0, "pids": 29, "pids_limit": 2000},
            "v2": {"cpu_limit": 0.5, "memory_peak_bytes": 98566144, "oom_kills": 3, "pids": 9, "pids_limit": 1024},
        }[version]
        assert {name: metrics[name] for name in told} == told
        assert (metrics["memory_limit_bytes"], metrics["disk_limit_bytes"]) == (536870912, 4096)
        assert metrics["cpu_usage_percent"] == 0
        assert metrics["kernels"] == 1
        client.run("second", "1", session="second")
        assert client.ask("metrics")["kernels"] == 2
    finally:
        running.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("said", "size"), [("5\\t/somewhere\\n", 5 * 1024), ("", 0)])
def test_a_count_whose_output_is_kept_open_does_not_stop_the_supervisor(tmp_path: Path, said: str, size: int) -> None:
    program, holder = tmp_path / "bin" / "du", tmp_path / "holder"
    program.parent.mkdir()
    program.write_text(
        f"#!/bin/sh\nsetsid sh -c 'echo $$ >{holder}; exec sleep 60' &\n"
        f"until [ -s {holder} ]; do :; done\nprintf '{said}'\n"
    )
    program.chmod(0o755)
    running = Running(tmp_path, PATH=f"{program.parent}:{os.environ['PATH']}")
    try:
        client = running.ready()
        client.until(lambda: disk_reaches(client, size), PATIENCE, "the count of the disk")
        assert client.run("after", "1 + 1").only("result").blob == b"2"
        os.kill(int(holder.read_text()), signal.SIGKILL)
    finally:
        running.stop()
