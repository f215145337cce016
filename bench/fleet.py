#!/usr/bin/env python3
"""What a fleet costs: the controller with many local agents, and one agent against a local run.

`fleet.py FOURCORNERS FOLDER [AGENTS...]` works only below FOLDER, which must not exist, and on the null
target and a directory there. Prints the machine and one line for each figure; AGENTS are 200 and 1,000.
"""

import os
import platform
import pty
import resource
import select
import statistics
import subprocess
import sys
import time

WARM_UP_S, MEASURE_S = 2, 20
RUN = """name = "fleet"
[run]
warm_up = "{}s"
measure = "{}s"
interval = "1s"
"""
STREAM = """[stream.{}]
read = "{}%"
transfer_size = "{}"
pattern = "{}"
files = 1
file_size = "128MiB"
queue_depth = 1
arrival = {{ constant = "10/s" }}
"""
STREAMS = [
    ("a", 100, "8KiB", "random"),
    ("b", 0, "8KiB", "random"),
    ("c", 100, "64KiB", "sequential"),
    ("d", 50, "4KiB", "random"),
]
ONE = """name = "one"
[run]
warm_up = "0"
measure = "2s"
interval = "500ms"
[stream.a]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
files = 2
file_size = "64MiB"
queue_depth = 4
"""
TICKS = os.sysconf("SC_CLK_TCK")
# So few operations that nearly all processor time is that of the program itself: its start and its intervals.
RARE = ONE.replace("queue_depth = 4", 'queue_depth = 4\narrival = { constant = "10/s" }')
LENGTHS_S = (2, 22)
RARE_ROUNDS = 5


def usage(process):
    """Processor time in seconds and peak memory in MiB of a process so far; None after its end."""
    try:
        with open(f"/proc/{process}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        with open(f"/proc/{process}/status") as file:
            peak = next(line for line in file if line.startswith("VmHWM:"))
    except (OSError, StopIteration, IndexError):
        return None
    return (int(fields[11]) + int(fields[12])) / TICKS, int(peak.split()[1]) / 1024


def controller(program, agents):
    """Measures with so many agents on a terminal of 80 columns."""
    command = [program, "run", "null:", "-w", "four.toml", "--hosts", f"local:{agents}"]
    command += ["--store", "store", "--no-report"]
    process, terminal = pty.fork()
    if process == 0:
        os.environ["COLUMNS"] = "80"
        os.execv(program, command)
    text, updates, samples, ready = b"", [], [], None
    while True:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                part = os.read(terminal, 1 << 16)
            except OSError:
                break
            text += part
            updates.append(time.monotonic())
            if ready is None and f"{agents:,} hosts:".encode() in text:
                ready = time.monotonic()
        used = usage(process)
        if used:
            samples.append((time.monotonic(), *used))
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if ready is None:
        sys.exit(f"no run began, exit code {code}:\n{text.decode(errors='replace')}")
    end = ready + WARM_UP_S + MEASURE_S
    during = [sample for sample in samples if ready <= sample[0] <= end]
    processors = (during[-1][1] - during[0][1]) / (during[-1][0] - during[0][0])
    times = [at for at in updates if ready + WARM_UP_S <= at <= end]
    gap = max(later - earlier for earlier, later in zip(times, times[1:]))
    shown = time.monotonic()
    subprocess.run([program, "show", "last", "--store", "store"], stdout=subprocess.DEVNULL, check=True)
    shown = time.monotonic() - shown
    spread = next((l for l in text.decode(errors="replace").splitlines() if "started within" in l), "")
    print(
        f"{agents} agents, 4 streams, 1 s intervals: controller {processors:.2f} processors and "
        f"{during[-1][2]:.0f} MiB in the run, longest time without an update of the screen {gap:.2f} s, "
        f"`show last` {shown:.2f} s, exit code {code}; {spread.strip()}",
        flush=True,
    )


def used(program, target, workload, seconds, hosts=()):
    """Processor time in seconds of all processes of a run of this length."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [program, "run", target, "--not-a-mount", "-w", workload, "--store", "store", "--no-report"]
    command += ["--no-progress", "--json", "--measure", f"{seconds}s", *hosts]
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def fleet_of_one(program):
    """Processor time that an agent adds to the start of a run and to each second of it, and its share of a run.

    The operations of a fleet of one are executed by the same code as those of a local run, so what can differ
    is the rest. Pairs of full runs do not resolve it: the cost of an operation differs by some percent between
    any two runs.
    """
    times = {}
    for number in range(RARE_ROUNDS):
        for seconds in LENGTHS_S:
            runs = [(), ("--hosts", "local:1")]
            if number % 2:
                runs.reverse()
            for hosts in runs:
                times.setdefault((bool(hosts), seconds), []).append(used(program, "null:", "rare.toml", seconds, hosts))
    median = {key: statistics.median(all) for key, all in times.items()}
    short, long = LENGTHS_S
    start = median[True, short] - median[False, short]
    second = (median[True, long] - median[False, long] - start) / (long - short)
    print(
        f"one agent adds {start * 1e3:.1f} ms of processor time to a run of {short} s, and "
        f"{second * 1e3:.2f} ms to each further second; a local run of {short} s without load takes "
        f"{median[False, short] * 1e3:.1f} ms",
        flush=True,
    )
    for target in ["null:", "directory"]:
        used(program, target, "one.toml", short)
        load = (used(program, target, "one.toml", long) - used(program, target, "one.toml", short)) / (long - short)
        of_minute = (start + second * (60 - short)) / (load * 60)
        print(
            f"a local run on {target.rstrip(':')} takes {load * 1e3:.0f} ms of processor time in a second, so an agent "
            f"adds {second / load:.2%} to each second, and {of_minute:.2%} to a run of a minute",
            flush=True,
        )


def main():
    program, folder, *agents = sys.argv[1:]
    program = os.path.realpath(program)
    os.mkdir(folder)
    os.chdir(folder)
    os.mkdir("directory")
    with open("four.toml", "w") as file:
        file.write(RUN.format(WARM_UP_S, MEASURE_S))
        file.writelines(STREAM.format(*stream) for stream in STREAMS)
    with open("one.toml", "w") as file:
        file.write(ONE)
    with open("rare.toml", "w") as file:
        file.write(RARE)
    with open("/proc/cpuinfo") as file:
        model = next(line for line in file if line.startswith("model name")).split(":")[1].strip()
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    print(f"{model}, {os.cpu_count()} processors, Linux {platform.release()}, load {os.getloadavg()[0]:.1f}")
    print(version.split("\n")[0], flush=True)
    fleet_of_one(program)
    for count in agents or ["200", "1000"]:
        controller(program, int(count))


main()
