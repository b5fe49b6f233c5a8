"""Clients of RabbitMQ's plugins: prints what came of each step, none of which depends on time."""
import base64
import json
import os
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import paho.mqtt.client as mqtt
import pika
from websockets.sync.client import connect as websocket

PORT = {name: int(os.environ[name]) for name in
        ("AMQP", "AMQPS", "HTTP", "MQTT", "STOMP", "WEB_STOMP", "WEB_MQTT", "PROMETHEUS")}
CONNECTIONS = 2000
LIMIT = 30  # seconds for a step


def api(method, path, body=None, user="guest:guest"):
    headers = {"Authorization": "Basic " + base64.b64encode(user.encode()).decode(), "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{PORT['HTTP']}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            status, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        status, text = e.code, e.read().decode()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, text[:80]


def until(condition, what):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            print("timeout:", what)
            return False
        time.sleep(0.1)
    return True


def amqp(port=PORT["AMQP"], **options):
    return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", port, heartbeat=0, **options))


def tls():
    context = ssl.create_default_context(cafile="cert.pem")
    for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
        context.minimum_version = context.maximum_version = version
        with amqp(PORT["AMQPS"], ssl_options=pika.SSLOptions(context, "localhost")) as connection:
            channel = connection.channel()
            channel.confirm_delivery()
            channel.queue_declare("tls")
            sent = [os.urandom(1) * (n * 997 % 70000) for n in range(200)]
            for body in sent:
                channel.basic_publish("", "tls", body)
            got = [channel.basic_get("tls", auto_ack=True)[2] for _ in sent]
            print("TLS", version.name, got == sent)
    try:
        socket_ = ssl.create_default_context().wrap_socket(
            socket.create_connection(("127.0.0.1", PORT["AMQPS"])), server_hostname="localhost")
        socket_.close()
    except ssl.SSLError as e:
        print("TLS, unknown authority:", e.reason)


def management():
    print("wrong user:", api("GET", "/api/overview", user="guest:x"))
    status, overview = api("GET", "/api/overview")
    print("overview:", status, sorted(overview), overview["rabbitmq_version"], overview["product_name"])
    print("whoami:", api("GET", "/api/whoami"))
    for method, path, body in (
        ("PUT", "/api/vhosts/other", {}), ("PUT", "/api/users/app", {"password": "pw", "tags": "management"}),
        ("PUT", "/api/permissions/other/app", {"configure": ".*", "write": ".*", "read": ".*"}),
        ("PUT", "/api/permissions/other/guest", {"configure": ".*", "write": ".*", "read": ".*"}),
        ("PUT", "/api/queues/other/q", {"durable": True, "arguments": {"x-queue-type": "quorum"}}),
        ("PUT", "/api/queues/other/c", {"durable": True}), ("PUT", "/api/queues/other/q", {"durable": True}),
        ("PUT", "/api/exchanges/other/e", {"type": "topic", "durable": True}),
        ("POST", "/api/bindings/other/e/e/q/c", {"routing_key": "a.#"}),
        ("POST", "/api/bindings/other/e/e/q/nosuch", {"routing_key": "a.#"}),
        ("PUT", "/api/policies/other/p", {"pattern": "^c", "definition": {"max-length": 3}, "priority": 1}),
        ("PUT", "/api/policies/other/bad", {"pattern": "^c", "definition": {"nosuch": 3}}),
        ("PUT", "/api/queues/other/bad", {"arguments": 1}), ("GET", "/api/nosuch", None), ("GET", "/api/users", None),
        ("GET", "/api/vhosts/nosuch", None), ("GET", "/api/bindings/other", None), ("GET", "/api/permissions", None),
        ("GET", "/api/policies", None), ("GET", "/api/health/checks/alarms", None),
        ("GET", "/api/health/checks/local-alarms", None), ("GET", "/api/health/checks/virtual-hosts", None),
        ("GET", "/api/aliveness-test/%2F", None),
    ):
        status, answer = api(method, path, body)
        if path == "/api/users":
            answer = sorted((u["name"], u["tags"], u["hashing_algorithm"]) for u in answer)
        print(method, path, status, json.dumps(answer, sort_keys=True)[:600])
    for n in range(5):
        print("publish:", api("POST", "/api/exchanges/other/e/publish", {
            "properties": {"delivery_mode": 2}, "routing_key": f"a.{n}", "payload": f"p{n} ü", "payload_encoding": "string"}))
    until(lambda: api("GET", "/api/queues/other/c")[1].get("messages_ready") == 3, "3 messages")
    print("get:", api("POST", "/api/queues/other/c/get", {"count": 5, "ackmode": "ack_requeue_false", "encoding": "auto"}))
    with amqp() as connection:
        connection.channel()
        until(lambda: len(api("GET", "/api/channels")[1]) == 1, "one channel")
        for path, late in (("connections", "recv_oct"), ("channels", "prefetch_count"), ("nodes", "mem_used"),
                           ("exchanges", "name"), ("vhosts", "cluster_state")):
            until(lambda: any(late in item for item in api("GET", "/api/" + path)[1]), path)
            item = api("GET", "/api/" + path)[1][0]
            keys = sorted(k for k in item if k not in ("message_stats", "garbage_collection") and not k.endswith("_details"))
            print(path, keys if path in ("connections", "nodes") else late in item)
    # A page of the interface itself.
    print("page:", api("GET", "/")[0], "script:", api("GET", "/js/main.js")[0], "no file:", api("GET", "/js/nosuch.js")[0])


def definitions():
    status, out = api("GET", "/api/definitions")
    print("definitions:", status, sorted(out), sorted(q["name"] for q in out["queues"]))
    print("delete:", api("DELETE", "/api/vhosts/other"), api("GET", "/api/queues/other")[0])
    print("import:", api("POST", "/api/definitions", out))
    until(lambda: len(api("GET", "/api/queues/other")[1]) == 2, "queues again")
    again = api("GET", "/api/definitions")[1]
    same = {k: sorted(json.dumps(i, sort_keys=True) for i in out[k]) == sorted(json.dumps(i, sort_keys=True) for i in again[k])
            for k in out if isinstance(out[k], list)}
    print("same:", same)


def ctl(*words):
    done = subprocess.run([os.environ["CTL"], "-q", *words], capture_output=True, text=True, timeout=LIMIT, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout.strip()


def alarms():
    with amqp(blocked_connection_timeout=LIMIT) as connection:
        events = []
        connection.add_on_connection_blocked_callback(lambda _, m: events.append(("blocked", m.method.reason)))
        connection.add_on_connection_unblocked_callback(lambda *_: events.append("unblocked"))
        channel = connection.channel()
        channel.queue_declare("alarmed", durable=True)
        for kind, on, off in (("memory", ("set_vm_memory_high_watermark", "0.00001"), ("set_vm_memory_high_watermark", "0.4")),
                              ("disk", ("set_disk_free_limit", "100000GB"), ("set_disk_free_limit", "50MB"))):
            del events[:]
            print(kind, "on", ctl(*on)[0])
            until(lambda: api("GET", "/api/health/checks/alarms")[0] == 503, kind + " alarm")
            channel.basic_publish("", "alarmed", b"while blocked")

            def seen(count):
                connection.process_data_events(0.1)
                return len(events) >= count
            until(lambda: seen(1), kind + " blocked")
            with amqp() as other:
                ready = other.channel().queue_declare("alarmed", passive=True).method.message_count
            print(kind, "off", ctl(*off)[0])
            until(lambda: api("GET", "/api/health/checks/alarms")[0] == 200, kind + " alarm off")
            until(lambda: seen(2), kind + " unblocked")
            with amqp() as other:
                c = other.channel()
                until(lambda: c.queue_declare("alarmed", passive=True).method.message_count == ready + 1, "message after alarm")
                print(kind, events, ready, c.queue_declare("alarmed", passive=True).method.message_count)


def connections():
    begin, failed = time.monotonic(), 0
    for n in range(CONNECTIONS):
        try:
            connection = amqp()
            if n % 10 == 0:
                connection.channel()
            connection.close()
        except (pika.exceptions.AMQPError, OSError):
            failed += 1
    print(f"connections: {CONNECTIONS} opened, {failed} failed")
    with open("seconds", "w") as f:
        print(round(time.monotonic() - begin, 2), file=f)
    until(lambda: ctl("list_connections", "pid") == (0, "") or ctl("list_connections", "pid")[1] == "pid", "connections closed")


def plugins():
    got, ready = [], []
    for name, port, options in (("MQTT", "MQTT", {}), ("web MQTT", "WEB_MQTT", {"transport": "websockets"})):
        del got[:], ready[:]
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name.replace(" ", ""), **options)
        client.username_pw_set("guest", "guest")
        if options:
            client.ws_set_options("/ws")
        client.on_connect = lambda c, *_: c.subscribe("t/#", qos=1)
        client.on_subscribe = lambda *_: ready.append(True)
        client.on_message = lambda _c, _u, m: got.append(m.payload)
        client.connect("127.0.0.1", PORT[port])
        client.loop_start()
        until(lambda: ready, name + " subscribed")
        for n in range(300):
            client.publish(f"t/{n}", f"m{n}", qos=n % 2)
        until(lambda: len(got) == 300, name + " messages")
        client.disconnect()
        client.loop_stop()
        print(name, len(got), sorted(got)[:2])

    frames = ["CONNECT\naccept-version:1.2\nhost:/\nlogin:guest\npasscode:guest\n\n\0",
              "SUBSCRIBE\nid:1\ndestination:/queue/stomp\nack:auto\nreceipt:r\n\n\0",
              "SEND\ndestination:/queue/stomp\ncontent-type:text/plain\n\nhello ü\0", "NONSENSE\n\n\0"]

    def heads(text):
        return [(f.strip().split("\n")[0], f.split("\n\n")[-1]) for f in text.split("\0") if f.strip()]
    with socket.create_connection(("127.0.0.1", PORT["STOMP"]), LIMIT) as s:
        text = b""
        for frame, count in zip(frames, (1, 2, 3, 4)):
            s.sendall(frame.encode())
            while text.count(b"\0") < count and (data := s.recv(4096)):
                text += data
        print("STOMP", heads(text.decode()))
    with websocket(f"ws://127.0.0.1:{PORT['WEB_STOMP']}/ws") as s:
        text = []
        for frame in frames[:3]:
            s.send(frame)
            text.append(s.recv(LIMIT))
        print("web STOMP", [heads(t)[0][0] for t in text])
    request = urllib.request.urlopen(f"http://127.0.0.1:{PORT['PROMETHEUS']}/metrics", timeout=LIMIT)
    body = request.read().decode()
    names = sorted({line.split("{")[0].split(" ")[0] for line in body.splitlines() if line and not line.startswith("#")})
    names = [name for name in names if name != "erlang_vm_allocators"]  # kvik has no allocators of OTP's
    print("Prometheus:", len(names), names)


def shovels():
    with amqp() as connection:
        for name in ("from", "to"):
            connection.channel().queue_declare(name, durable=True)
    uri = f"amqp://guest:guest@127.0.0.1:{PORT['AMQP']}"
    print("shovel:", api("PUT", "/api/parameters/shovel/%2F/s", {"value": {
        "src-protocol": "amqp091", "src-uri": uri, "src-queue": "from", "dest-protocol": "amqp091", "dest-uri": uri, "dest-queue": "to"}}))
    print("upstream:", api("PUT", "/api/parameters/federation-upstream/other/u", {"value": {"uri": uri + "/%2F", "queue": "from2"}}))
    print("policy:", api("PUT", "/api/policies/other/f", {"pattern": "^fed", "definition": {"federation-upstream-set": "all"}, "apply-to": "exchanges"}))
    with amqp() as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        for n in range(200):
            channel.basic_publish("", "from", f"s{n}".encode())
        until(lambda: channel.queue_declare("to", passive=True).method.message_count == 200, "shovel")
        print("shovelled:", [channel.basic_get("to", auto_ack=True)[2] for _ in range(200)] == [f"s{n}".encode() for n in range(200)])
        channel.exchange_declare("fed", "fanout", durable=True)
        with amqp(virtual_host="other") as down:
            c = down.channel()
            c.exchange_declare("fed", "fanout", durable=True)
            c.queue_declare("arrived", durable=True)
            c.queue_bind("arrived", "fed")
            until(lambda: any(x.get("source") == "fed" for x in api("GET", "/api/bindings/%2F")[1]), "federation link")
            for n in range(100):
                channel.basic_publish("fed", "", f"f{n}".encode())
            until(lambda: c.queue_declare("arrived", passive=True).method.message_count == 100, "federation")
            print("federated:", [c.basic_get("arrived", auto_ack=True)[2] for _ in range(100)] == [f"f{n}".encode() for n in range(100)])
    print("shovels:", [(s["name"], s["state"]) for s in api("GET", "/api/shovels")[1]])


for step in (tls, management, definitions, alarms, plugins, shovels, connections):
    try:
        step()
    except Exception as e:  # the others still run
        print(step.__name__, "failed:", type(e).__name__, str(e)[:200])
print("done")
