"""Sessions that know what their statements cost, and how measurements are repeated."""
import atexit
import os
import socket
import subprocess
import sys
import time

import psycopg2


class Turns:
    """Two benchmarks side by side, test/bench/compare, work in turns: each until it is about to measure."""

    def __init__(self):
        self.other = None

    def begin(self, descriptor):
        """Wait for the first turn. The descriptor is a socket whose other end the other benchmark has."""
        self.other = socket.socket(fileno=descriptor)
        atexit.register(self.end)
        self.wait()

    def wait(self):
        if not self.other.recv(1):
            self.other = None  # it has ended

    def give(self):
        """The other one's turn, until it is about to measure."""
        if self.other:
            try:
                self.other.send(b".")
                self.wait()
            except OSError:
                self.other = None

    def end(self):
        if self.other:
            self.other.shutdown(socket.SHUT_RDWR)


turns = Turns()


class Cost:
    """CPU seconds of all processes at work, wall-clock seconds; the best of several runs."""

    def __init__(self, cpu, wall):
        self.cpu, self.wall = cpu, wall

    def __sub__(self, other):
        return Cost(self.cpu - other.cpu, self.wall - other.wall)

    def best(self, other):
        return Cost(min(self.cpu, other.cpu), min(self.wall, other.wall))

    def json(self):
        return {"cpu": round(self.cpu, 5), "wall": round(self.wall, 5)}


def cpu_seconds(pid):
    """CPU time of a single-threaded process on this machine, None for any other."""
    try:
        with open("/proc/%d/schedstat" % pid, encoding="ascii") as file:
            seconds = int(file.read().split()[0]) / 1e9
        if seconds > 0:
            return seconds
        with open("/proc/%d/stat" % pid, encoding="ascii") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def blas_library(pid):
    """Which BLAS a process has loaded, by the name of its file."""
    try:
        with open("/proc/%d/maps" % pid, encoding="utf-8") as file:
            files = {os.path.realpath(line.split()[-1]) for line in file if "blas" in line}
    except OSError:
        return "unknown BLAS"
    return "OpenBLAS" if any("openblas" in f for f in files) else "reference BLAS" if any("/blas/libblas" in f for f in files) \
        else ", ".join(sorted(map(os.path.basename, files))) or "unknown BLAS"


def peak_memory(pid):
    """The most memory that a process has had resident, in MB; None if it is not on this machine."""
    try:
        with open("/proc/%d/status" % pid, encoding="ascii") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) / 1024
    except OSError:
        pass
    return None


class Session:
    """A connection. mode is 'streaming' (no row is in memory), None, or anything else, for which dperm.cache_memory is as
    specified; workers is the number of parallel workers."""

    def __init__(self, mode=None, workers=0, cache_mb=0):
        self.connection = psycopg2.connect("")
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.pid = self.connection.get_backend_pid()
        # the pid means something only if the server is here
        self.local = os.environ.get("PGHOST", "/").startswith("/") and cpu_seconds(self.pid) is not None
        self.run("SET jit = off; SET synchronize_seqscans = off; SET statement_timeout = 0; LOAD 'dperm'; "
                 "SET max_parallel_workers_per_gather = %d" % workers)
        if workers:
            self.run("SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0")
        self.has_cache = self.value("SELECT current_setting('dperm.cache_memory', true)") is not None
        if mode and self.has_cache:
            self.run("SET dperm.cache_memory = '%dMB'" % (0 if mode == "streaming" else cache_mb))

    def run(self, sql, arguments=None):
        self.cursor.execute(sql, arguments)

    def value(self, sql, arguments=None):
        """The first column of the first row."""
        self.cursor.execute(sql, arguments)
        return self.cursor.fetchone()[0]

    def cost(self, sql, arguments=None):
        """What a statement costs. CPU seconds are the leader's alone if there are workers."""
        turns.give()
        before = cpu_seconds(self.pid) if self.local else None
        start = time.perf_counter()
        self.cursor.execute(sql, arguments)
        wall = time.perf_counter() - start
        if before is None:
            return Cost(wall, wall)
        return Cost(cpu_seconds(self.pid) - before, wall)

    def close(self):
        self.connection.close()


def touch_memory(megabytes):
    """Use some memory and give it back. On a virtual machine free memory may be with the host, and
    come back page by page to whoever needs it next: nobody who is measured shall pay for that."""
    subprocess.run([sys.executable, "-c", "n = %d << 20; b = bytearray(n); b[::4096] = bytes(n // 4096)" % megabytes],
                   check=False)


def interleave(things, repeat, limit=600, before=lambda: None):
    """Runs {name: function that returns a Cost} in turn, several times, each after before(); the best
    of each. No round begins after limit seconds: what takes so long needs no repetition."""
    best, start = {}, time.perf_counter()
    for turn in range(repeat):
        if turn and time.perf_counter() - start > limit:
            break
        for name, function in things.items():
            before()
            cost = function()
            best[name] = best[name].best(cost) if name in best else cost
    return best


def memory_above_baseline(table, sql, mode, cache_mb=0):
    """How many MB a statement needs at its peak beyond a scan of the same table, in a new session.

    The scan comes first: what a process has touched of the shared buffers counts as its memory.
    So does a training of a few rows, which loads the library.
    """
    session = Session(mode, cache_mb=cache_mb)
    if not session.local:
        session.close()
        return None
    session.run("SELECT count(*) FROM %s" % table)
    session.run("SELECT dp_logreg_train('warm_up', 'y', 'x', epsilon => 1, lambda => 0.1)")
    before = peak_memory(session.pid)
    session.run(sql)
    after = peak_memory(session.pid)
    session.close()
    return after - before
