#!/usr/bin/env python3
"""measure.py line RUNS COMMAND…: medians from exec to the first line and to the end.
measure.py page PORT RUNS COMMAND…: from exec to the first page with status 200.
Both add the resident memory then: of a program that prints, while it waits to write its line."""
import os
import signal
import socket
import statistics
import subprocess
import sys
import time

LIMIT = 60


def line(command):
    read, write = os.pipe()
    begin = time.monotonic()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
        (os.POSIX_SPAWN_DUP2, write, 1), (os.POSIX_SPAWN_CLOSE, read), (os.POSIX_SPAWN_CLOSE, write)])
    os.close(write)
    assert os.read(read, 1), command
    first = time.monotonic() - begin
    while os.read(read, 65536):
        pass
    os.close(read)
    _, status = os.waitpid(pid, 0)
    assert status == 0, (command, status)
    return first, time.monotonic() - begin, 0


def memory_at_line(command):
    """What a program has when it writes to a pipe that is full."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    p = subprocess.Popen(command, stdout=write)
    os.close(write)
    time.sleep(1)
    memory = resident(p.pid)
    while os.read(read, 65536):
        pass
    os.close(read)
    p.wait()
    return memory


def resident(pid):
    """Megabytes of a process and those below it."""
    kilobytes = 0
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            kilobytes += sum(int(each.split()[1]) for each in file if each.startswith("Rss:"))
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return kilobytes / 1024 + sum(resident(int(child)) for child in file.read().split())
    except FileNotFoundError:
        return kilobytes / 1024


def answers(port):
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as s:
            s.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return b" 200 " in s.recv(65536)[:20]
    except OSError:
        return False


def page(port, command):
    begin = time.monotonic()
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        while not answers(port):
            assert time.monotonic() - begin < LIMIT and p.poll() is None, command
            time.sleep(0.001)
        first = time.monotonic() - begin
        time.sleep(0.3)
        return first, first, resident(p.pid)
    finally:
        os.killpg(p.pid, signal.SIGTERM)
        try:
            p.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.wait()


def main():
    if sys.argv[1] == "line":
        runs, command = int(sys.argv[2]), sys.argv[3:]
        of = lambda: line(command)
    else:
        port, runs, command = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:]
        of = lambda: page(port, command)
    of()  # what is read from the disk is in memory then
    first, end, memory = (statistics.median(column) for column in zip(*(of() for _ in range(runs))))
    memory = memory or memory_at_line(command)
    print(f"{first * 1000:.1f} {end * 1000:.1f} {memory:.0f}")


main()
