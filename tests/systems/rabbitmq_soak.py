"""Soaks RabbitMQ: `rabbitmq_soak.py SERVER SECONDS [SEED]` starts the server (its folder is SERVER), has publishers and
consumers work on classic, quorum and stream queues under changing load, and injects faults: kill -9 and restart,
resets and half-closes of client sockets, clients and server that freeze, handshakes that stop in their middle,
connection storms, memory alarms, modules loaded anew. Prints the server's memory each minute; at the end it counts
confirmed messages that no consumer saw, and compares memory in calm moments of the last part, which has no kill.

Each message carries its number and is filled with it. `confirmed` and `seen` hold a byte for each number, in memory
that the processes share."""
import ctypes
import multiprocessing
import os
import random
import re
import signal
import socket
import stat
import struct
import subprocess
import sys
import time

import pika

PORT = int(os.environ["RABBITMQ_NODE_PORT"])
QUEUES = ("classic", "classic-2", "quorum", "stream")
ARGUMENTS = {"quorum": {"x-queue-type": "quorum"}, "stream": {"x-queue-type": "stream"}}
RATES = (0, 2, 20, 100, 400)  # messages a second
SIZES = (20, 200, 1000, 10_000, 100_000)  # bytes
STREAM_SIZES = (20, 200, 1000)
BACKLOG_LIMIT = 5_000  # messages that may wait in a queue before its publisher pauses
MESSAGE_LIMIT = 8_000_000
RUN, CALM, STOP = 0, 1, 2
HEARTBEAT = 5

mode = multiprocessing.RawValue("i", RUN)
rate, size, paused, cut, published, delivered, corrupt, reconnects = (
    multiprocessing.RawArray("q", len(QUEUES) * 2) for _ in range(8)
)
confirmed, seen = ([multiprocessing.RawArray("B", MESSAGE_LIMIT) for _ in QUEUES] for _ in range(2))


# Clients


def body(number, length):
    word = struct.pack(">Q", number)
    return (word * (length // 8 + 1))[: max(length, 8)]


def connect():
    return pika.BlockingConnection(
        pika.ConnectionParameters(
            "127.0.0.1", PORT, heartbeat=HEARTBEAT, socket_timeout=10, blocked_connection_timeout=120
        )
    )


def server_sockets():
    """This process's sockets that are connected to the server, as duplicates."""
    for fd in map(int, os.listdir("/proc/self/fd")):
        try:
            if not stat.S_ISSOCK(os.fstat(fd).st_mode):
                continue
            s = socket.socket(fileno=os.dup(fd))
        except OSError:  # the descriptor that listed them is closed by now
            continue
        try:
            if s.getpeername()[1] == PORT:
                yield s
        except (OSError, IndexError, TypeError):
            pass
        s.close()


def cut_sockets(how):
    for s in server_sockets():
        if how == 1:  # connecting to AF_UNSPEC makes Linux send a reset
            ctypes.CDLL(None).connect(s.fileno(), bytes(16), 16)
        else:
            s.shutdown(socket.SHUT_WR)


def reconnecting(worker, index, slot):
    """Runs worker(index, connection) until STOP, over new connections as often as one breaks. Control-C goes to the
    controlling process alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while mode.value != STOP:
        try:
            with connect() as connection:
                worker(index, connection)
        except (pika.exceptions.AMQPError, OSError, AssertionError, AttributeError, IndexError, ValueError):
            reconnects[slot] += 1
            time.sleep(random.uniform(0.2, 1.0))


def cut_if_asked(slot):
    if cut[slot]:
        how, cut[slot] = cut[slot], 0
        cut_sockets(how)


def publish(index, connection):
    channel = connection.channel()
    channel.confirm_delivery()
    persistent = pika.BasicProperties(delivery_mode=2)
    while mode.value != STOP:
        cut_if_asked(index)
        backlog = published[index] - delivered[index]
        pace = rate[index]
        if mode.value == CALM or pace == 0 or backlog > BACKLOG_LIMIT or published[index] >= MESSAGE_LIMIT:
            connection.sleep(0.2)
            continue
        began, number = time.monotonic(), published[index]
        published[index] += 1
        channel.basic_publish("", QUEUES[index], body(number, size[index]), persistent, mandatory=True)
        confirmed[index][number] = 1
        rest = began + 1 / pace - time.monotonic()
        if rest > 0.002:
            connection.sleep(rest)


def note(index, message):
    number = struct.unpack(">Q", message[:8])[0]
    if number >= published[index] or message != body(number, len(message)):
        corrupt[index] += 1
        return
    if not seen[index][number]:
        delivered[index] += 1
    seen[index][number] = min(255, seen[index][number] + 1)


stream_offset = 0


def consume(index, connection):
    """A stream is read from where the last connection stopped."""
    global stream_offset
    stream = QUEUES[index] == "stream"
    channel = connection.channel()
    channel.basic_qos(prefetch_count=100)
    arguments = {"x-stream-offset": stream_offset} if stream else None
    waiting = 0
    for method, properties, message in channel.consume(QUEUES[index], inactivity_timeout=0.3, arguments=arguments):
        if method:
            note(index, message)
            waiting += 1
            if stream:
                stream_offset = properties.headers["x-stream-offset"] + 1
            last = method.delivery_tag
        if waiting and (method is None or waiting == 50):
            channel.basic_ack(last, multiple=True)
            waiting = 0
        cut_if_asked(index + len(QUEUES))
        while paused[index] and mode.value == RUN:
            connection.sleep(0.2)
        if mode.value == STOP:
            return


# The server


class Server:
    def __init__(self, folder):
        self.folder, self.starts = folder, 0

    def start(self):
        if os.path.exists("pid"):
            os.remove("pid")
        self.starts += 1
        with open(f"boot{self.starts}.log", "w") as log:
            subprocess.Popen([self.folder + "/sbin/rabbitmq-server"], stdout=log, stderr=log, start_new_session=True)
        end = time.monotonic() + 120
        while time.monotonic() < end:
            try:
                connect().close()
                return
            except (pika.exceptions.AMQPError, OSError):
                time.sleep(0.5)
        raise SystemExit("the server did not start: see boot*.log\n0 passed, 1 failed")

    def pid(self):
        return int(open("pid").read())

    def kill(self):
        try:
            pid = self.pid()
            os.kill(pid, signal.SIGKILL)
            while os.path.exists(f"/proc/{pid}") and state(pid) != "Z":
                time.sleep(0.05)
        except (OSError, ValueError):
            pass

    def control(self, *command):
        return subprocess.run(
            [self.folder + "/sbin/rabbitmqctl", "-q", *command], capture_output=True, text=True, timeout=120
        )

    def resident(self):
        try:
            with open(f"/proc/{self.pid()}/status") as f:
                return int(re.search(r"VmRSS:\s+(\d+)", f.read())[1]) // 1024
        except (OSError, ValueError, TypeError):
            return 0


def state(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


# Faults: each takes the server and the clients, and returns when it is over


def kill_server(server, _):
    server.kill()
    time.sleep(random.uniform(0, 3))
    server.start()


def freeze_server(server, _):
    pid = server.pid()
    os.kill(pid, signal.SIGSTOP)
    time.sleep(random.uniform(1, 8))
    os.kill(pid, signal.SIGCONT)


def freeze_clients(_, clients):
    """For so long that the server must take them for dead."""
    chosen = random.sample(clients, 3)
    for c in chosen:
        os.kill(c.pid, signal.SIGSTOP)
    time.sleep(HEARTBEAT * 3 + 2)
    for c in chosen:
        os.kill(c.pid, signal.SIGCONT)


def reset_clients(*_):
    for slot in random.sample(range(2 * len(QUEUES)), 4):
        cut[slot] = 1


def half_close_clients(*_):
    for slot in random.sample(range(2 * len(QUEUES)), 4):
        cut[slot] = 2


HANDSHAKES = (b"AMQP\0\0\x09\x01", b"AMQP", b"", b"GET / HTTP/1.1\r\n\r\n", b"AMQP\0\0\x09\x01\x01\0\0")


def broken_handshakes(*_):
    """Connections that say a part of a handshake; some half-closed, some silent until the server has enough."""
    sockets = []
    for n in range(60):
        s = socket.create_connection(("127.0.0.1", PORT), 10)
        try:
            s.sendall(HANDSHAKES[n % len(HANDSHAKES)])
            if n % 3 == 0:
                s.shutdown(socket.SHUT_WR)
        except OSError:  # the server was quicker to close
            pass
        sockets.append(s)
    time.sleep(12)
    for n, s in enumerate(sockets):
        if n % 2:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        s.close()


def connection_storm(*_):
    connections = []
    try:
        for _ in range(60):
            c = connect()
            for _ in range(5):
                c.channel().queue_declare("", exclusive=True)
            connections.append(c)
        for n, c in enumerate(connections):
            if n % 2:
                c.close()
    except (pika.exceptions.AMQPError, OSError) as e:  # a busy server may take longer than the client's limit
        say(f"storm: {e!r}")
    for s in server_sockets():  # which are this process's, and what is left of the storm
        ctypes.CDLL(None).connect(s.fileno(), bytes(16), 16)


def memory_alarm(server, _):
    server.control("set_vm_memory_high_watermark", "0.0001")
    time.sleep(5)
    server.control("set_vm_memory_high_watermark", "0.4")


RELOAD = """lists:foldl(fun(A, {L, R}) -> {ok, Ms} = application:get_key(A, modules), lists:foldl(fun(M, {L1, R1}) ->
 case code:soft_purge(M) andalso code:load_file(M) of {module, M} -> {L1 + 1, R1}; _ -> {L1, R1 + 1} end end,
 {L, R}, Ms -- [rabbit_ff_registry]) end, {0, 0}, [rabbit, rabbit_common, ra, osiris, ranch])."""


def load_code(server, _):
    """Loads the broker's modules anew while they run; those whose old code runs still are left. rabbit_ff_registry is
    left out. RabbitMQ generates it when it starts; the file's version generates it again, in the process that calls it.
    If two call it at once, the second repeats code:soft_purge/1 until the old code is gone, which it runs itself, and
    holds a lock: it never ends, on OTP as on kvik. tests/diff/code/code_purge_states.erl has the same without RabbitMQ."""
    said = server.control("eval", RELOAD)
    if "{" not in said.stdout:
        say(f"code was not loaded: {said.stdout} {said.stderr}")


FAULTS = (freeze_server, freeze_clients, reset_clients, half_close_clients, broken_handshakes, connection_storm,
          memory_alarm, load_code)


# The run


def say(text):
    print(text, flush=True)


def change_load():
    for i, name in enumerate(QUEUES):
        rate[i] = random.choice(RATES)
        size[i] = random.choice(STREAM_SIZES if name == "stream" else SIZES)
        paused[i] = random.random() < 0.25


class Watch:
    """The curve of memory: a line each minute with what happened in it."""

    def __init__(self, server):
        self.server, self.began, self.next, self.events = server, time.monotonic(), 60, []

    def seconds(self):
        return time.monotonic() - self.began

    def look(self):
        if self.seconds() >= self.next:
            seen_all = sum(delivered[: len(QUEUES)])
            say(f"minute {self.next // 60}: {self.server.resident()} MB, {sum(published[: len(QUEUES)])} published, "
                f"{seen_all} seen, {sum(reconnects)} connections broken; {', '.join(self.events) or 'no fault'}")
            self.next += 60
            self.events = []

    def wait(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.look()
            time.sleep(min(0.5, max(0, end - time.monotonic())))


def waiting_messages(channel):
    return sum(channel.queue_declare(q, passive=True).method.message_count for q in QUEUES if q != "stream")


def drain(watch, limit):
    """No load, until nothing waits in the queues."""
    mode.value = CALM
    end = time.monotonic() + limit
    while time.monotonic() < end:
        watch.wait(1)
        try:
            with connect() as connection:
                if waiting_messages(connection.channel()) == 0:
                    return True
        except (pika.exceptions.AMQPError, OSError):
            pass
    return False


def calm_memory(watch):
    """The least that the server uses within 20 seconds without load."""
    drain(watch, 120)
    least = 1 << 30
    for _ in range(20):
        watch.wait(1)
        least = min(least, watch.server.resident())
    mode.value = RUN
    return least


def soak(server, clients, seconds):
    """Kills the server in the first 60% only; the calm figures are those of the rest."""
    watch = Watch(server)
    kills = [seconds * 0.6 * k / 4 for k in range(1, 5)]
    calm, calm_at = [], [seconds * (0.65 + 0.35 * k / 4) for k in range(4)]
    faults = []
    while watch.seconds() < seconds:
        change_load()
        watch.wait(random.uniform(5, 15))
        if kills and watch.seconds() > kills[0]:
            fault = kill_server
            kills.pop(0)
        elif calm_at and watch.seconds() > calm_at[0]:
            calm_at.pop(0)
            calm.append(calm_memory(watch))
            watch.events.append(f"calm {calm[-1]} MB")
            continue
        else:
            faults = faults or random.sample(FAULTS, len(FAULTS))
            fault = faults.pop()
        watch.events.append(fault.__name__)
        fault(server, clients)
        watch.look()
    watch.wait(1)
    return watch, calm


def read_stream(index):
    """The whole stream once more, from its first message."""
    last = max((n for n in range(published[index]) if confirmed[index][n]), default=None)
    found = set()
    if last is None:
        return found
    with connect() as connection:
        channel = connection.channel()
        channel.basic_qos(prefetch_count=500)
        for method, _, message in channel.consume("stream", inactivity_timeout=20, arguments={"x-stream-offset": "first"}):
            if method is None:
                break
            found.add(struct.unpack(">Q", message[:8])[0])
            channel.basic_ack(method.delivery_tag)
            if last in found:
                break
    return found


def verdict(drained, calm):
    bad = not drained
    for i, name in enumerate(QUEUES):
        numbers = [n for n in range(published[i]) if confirmed[i][n]]
        if name == "stream":
            again = read_stream(i)
            unseen = [n for n in numbers if not seen[i][n] or n not in again]
        else:
            unseen = [n for n in numbers if not seen[i][n]]
        repeated = sum(1 for n in range(published[i]) if seen[i][n] > 1)
        say(f"{name}: {published[i]} published, {len(numbers)} confirmed, {len(unseen)} of these lost {unseen[:5]}, "
            f"{repeated} delivered again, {corrupt[i]} damaged")
        bad = bad or unseen or corrupt[i] or not numbers
    say(f"memory in calm moments of the last part: {calm} MB")
    # Between calm moments of one run OTP's memory differs by 65 MB.
    if len(calm) >= 4 and min(calm[2:]) > max(calm[:2]) * 1.25 + 64:
        say("memory grows")
        bad = True
    if not drained:
        say("the queues were not drained")
    return bad


def main():
    folder, seconds = sys.argv[1], int(sys.argv[2])
    random.seed(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    server = Server(folder)
    clients = []
    try:
        server.start()
        with connect() as connection:
            channel = connection.channel()
            for name in QUEUES:
                channel.queue_declare(name, durable=True, arguments=ARGUMENTS.get(name))
        time.sleep(5)  # RabbitMQ notes where replicated queues are a second or two after it has confirmed them
        for i in range(len(QUEUES)):
            for worker, slot in ((publish, i), (consume, i + len(QUEUES))):
                clients.append(multiprocessing.Process(target=reconnecting, args=(worker, i, slot), daemon=True))
                clients[-1].start()
        watch, calm = soak(server, clients, seconds)
        drained = drain(watch, 180)
        for i in range(len(QUEUES)):
            paused[i] = 0
        time.sleep(5)
        mode.value = STOP
        dead = [c.name for c in clients if c.join(30) or c.exitcode != 0]
        if dead:
            say(f"clients that failed: {dead}")
        bad = verdict(drained, calm) or dead
        stopped = server.control("stop").returncode
        say(f"stop: {stopped}")
        bad = bad or stopped != 0
    finally:
        mode.value = STOP
        for c in clients:
            c.kill()
        server.kill()
    say("0 passed, 1 failed" if bad else "1 passed, 0 failed")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
