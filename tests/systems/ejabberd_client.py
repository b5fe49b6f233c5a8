"""XMPP, MQTT and HTTP clients of ejabberd: `first` before it is killed, `after` when it is up again.
Prints what came of each step, none of which depends on time."""
import asyncio
import base64
import json
import logging
import re
import ssl
import sys
import time
import urllib.error
import urllib.request

import paho.mqtt.client as mqtt
import slixmpp

C2S, MQTT, HTTP = (int(a) for a in sys.argv[2:5])
USERS = 500
LIMIT = 30  # seconds for a step
# Messages for a user who is not there. After kill -9 Dets loses those of one user that take more than 8 KB together
# (tests/diff/ets/dets_repair.erl) and that Mnesia no longer has in its log; one takes about 700 bytes.
STORED = 8
logging.disable(logging.CRITICAL)
TLS = ssl.create_default_context(cafile="cert.pem")


def call(path, body=None, user=None, password="secret"):
    """An HTTP request: status and body."""
    headers = {"Content-Type": "application/json"}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{HTTP}{path}", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def until(condition):
    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def register():
    names = ["admin", "mqtt"] + [f"user{n}" for n in range(USERS)]
    answers = [call("/api/register", {"user": n, "host": "localhost", "password": "secret"}) for n in names]
    print("registered:", sum(1 for status, _ in answers if status == 200), answers[0])
    print("again:", call("/api/register", {"user": "admin", "host": "localhost", "password": "x"}))
    print("users:", len(json.loads(call("/api/registered_users", {"host": "localhost"})[1])))


class User(slixmpp.ClientXMPP):
    def __init__(self, name, password="secret"):
        super().__init__(f"{name}@localhost/test", password, ssl_context=TLS)
        for plugin in ("xep_0030", "xep_0045", "xep_0054", "xep_0060", "xep_0092", "xep_0199", "xep_0313"):
            self.register_plugin(plugin)
        self.online = asyncio.get_running_loop().create_future()
        self.received = asyncio.Queue()
        self.add_event_handler("session_start", self.started)
        self.add_event_handler("failed_all_auth", lambda _: self.done(False))
        self.add_event_handler("message", self.received.put_nowait)

    def done(self, value):
        if not self.online.done():
            self.online.set_result(value)

    async def started(self, _):
        self.send_presence()
        await self.get_roster()
        self.done(True)

    async def log_in(self):
        self.connect("127.0.0.1", C2S)
        return await asyncio.wait_for(self.online, LIMIT)

    async def log_out(self):
        self.disconnect()
        await asyncio.wait_for(self.disconnected, LIMIT)

    async def next(self):
        return await asyncio.wait_for(self.received.get(), LIMIT)


async def messages(users):
    """Each sends a message to two others; what each gets is what was sent to it."""
    count = len(users)
    for i, user in enumerate(users):
        for step in (1, 7):
            user.send_message(mto=f"user{(i + step) % count}@localhost/test", mbody=f"{i} to {(i + step) % count} ü")
    good = 0
    for i, user in enumerate(users):
        got = [await user.next() for _ in range(2)]
        good += {m["body"] for m in got} == {f"{(i - s) % count} to {i} ü" for s in (1, 7)}
    print(f"messages: {2 * good} of {2 * count}")
    for n in range(500):
        users[0].send_message(mto="user1@localhost/test", mbody=f"{n} " + "x" * n)
    got = [(await users[1].next())["body"] for _ in range(500)]
    print("in order:", got == [f"{n} " + "x" * n for n in range(500)])


async def services(users):
    one, two = users[:2]
    version = await one.plugin["xep_0092"].get_version("localhost")
    print("version:", version["software_version"]["name"], version["software_version"]["version"])
    items = await one.plugin["xep_0030"].get_items("localhost")
    print("items:", sorted(i[0] for i in items["disco_items"]["items"]))
    info = await one.plugin["xep_0030"].get_info("localhost")
    print("features:", sorted(info["disco_info"]["features"]))
    print("ping:", await one.plugin["xep_0199"].ping("localhost") is not None)
    card = one.plugin["xep_0054"].stanza.VCardTemp()
    card["FN"] = "User Ünö"
    await one.plugin["xep_0054"].publish_vcard(card)
    got = await two.plugin["xep_0054"].get_vcard("user0@localhost")
    print("card:", got["vcard_temp"]["FN"])
    node = await one.plugin["xep_0060"].create_node("pubsub.localhost", "news")
    print("node:", node["pubsub"]["create"]["node"] or node["type"])
    room = "room@conference.localhost"
    for user in (one, two):
        await user.plugin["xep_0045"].join_muc_wait(room, user.boundjid.user, maxstanzas=0, timeout=LIMIT)
    one.send_message(mto=room, mbody="hello room", mtype="groupchat")
    while (m := await two.next())["body"] != "hello room":
        pass
    print("room:", m["from"], m["body"])
    # Kept for one who is not there.
    await users[2].log_out()
    await gone("user2")
    one.send_message(mto="user2@localhost", mbody="later")
    await stored("user2", 1)
    again = User("user2")
    print("again:", await again.log_in())
    m = await again.next()
    print("offline:", m["from"], m["body"])
    users[2] = again


async def gone(name):
    while name + "@localhost/test" in call("/api/connected_users", {})[1]:
        await asyncio.sleep(0.05)


async def stored(name, count):
    """Waits until so many messages are kept for a user who is not there."""
    end = time.monotonic() + LIMIT
    while (n := call("/api/get_offline_count", {"user": name, "server": "localhost"})) != (200, f'{{"value":{count}}}'):
        if time.monotonic() > end:
            print("not stored:", name, n)
            return
        await asyncio.sleep(0.05)


async def archive(user):
    found = await user.plugin["xep_0313"].retrieve(with_jid=slixmpp.JID("user499@localhost"))
    bodies = [r["mam_result"]["forwarded"]["stanza"]["body"] for r in found["mam"]["results"]]
    print("archive:", bodies)


async def xmpp():
    wrong = User("user0", "wrong")
    print("wrong password:", await wrong.log_in())
    wrong.abort()
    users = [User(f"user{n}") for n in range(USERS)]
    online = []
    for at in range(0, USERS, 20):
        online += await asyncio.gather(*(u.log_in() for u in users[at:at + 20]))
    print("online:", sum(online), call("/api/connected_users_number", {}))
    tls = users[0].transport.get_extra_info("ssl_object")
    print("TLS:", tls.version(), tls.cipher(), sorted(users[0].plugin["feature_mechanisms"].mech_list))
    await messages(users)
    await services(users)
    await archive(users[0])
    await asyncio.gather(*(u.log_out() for u in users[3:]))
    for n in range(3, USERS):
        await gone(f"user{n}")
    print("left:", call("/api/connected_users_number", {}))
    for n in range(STORED):
        users[0].send_message(mto="user9@localhost", mbody=f"stored {n}")
    await stored("user9", STORED)
    await asyncio.gather(*(u.log_out() for u in users[:3]))


async def xmpp_after():
    one, nine = User("user0"), User("user9")
    print("online:", await one.log_in(), await nine.log_in())
    got = [(await nine.next())["body"] for _ in range(STORED)]
    print("stored:", got == [f"stored {n}" for n in range(STORED)], got[:2])
    items = await one.plugin["xep_0030"].get_items("conference.localhost")
    print("rooms:", sorted(i[0] for i in items["disco_items"]["items"]))
    print("card:", (await one.plugin["xep_0054"].get_vcard("user0@localhost"))["vcard_temp"]["FN"])
    await one.log_out()
    await nine.log_out()


def mqtt_client(name, version=mqtt.MQTTv311, **options):
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=name, protocol=version, **options)
    client.username_pw_set("mqtt@localhost", "secret")
    return client


def mqtt_messages(version, name, **options):
    got, sent, ready = [], 200, []
    sub, pub = mqtt_client("subscriber", version, **options), mqtt_client("publisher", version, **options)
    port = MQTT
    if options:
        port = HTTP
        for client in (sub, pub):
            client.ws_set_options("/mqtt")
    sub.on_connect = lambda c, *_: c.subscribe("news/#", qos=2)
    sub.on_subscribe = lambda *_: ready.append(True)
    sub.on_message = lambda _c, _u, m: got.append((m.topic, m.payload.decode(), m.qos))
    for client in (sub, pub):
        client.connect("127.0.0.1", port)
        client.loop_start()
    until(lambda: ready)
    for n in range(sent):
        pub.publish(f"news/{n % 3}", f"item {n}", qos=n % 3)
    until(lambda: len(got) == sent)
    pub.publish("kept/" + name, "kept " + name, qos=1, retain=True).wait_for_publish(LIMIT)
    for client in (sub, pub):
        client.disconnect()
        client.loop_stop()
    print("mqtt:", name, len(got), sorted(got, key=lambda m: int(m[1].split()[1]))[:4])


def mqtt_kept():
    got = []
    sub = mqtt_client("other")
    sub.on_connect = lambda c, *_: c.subscribe("kept/#", qos=1)
    sub.on_message = lambda _c, _u, m: got.append((m.topic, m.payload.decode(), m.qos, m.retain))
    sub.connect("127.0.0.1", MQTT)
    sub.loop_start()
    until(lambda: len(got) == 3)
    sub.disconnect()
    sub.loop_stop()
    print("kept:", sorted(got))


def pages():
    print("no user:", call("/admin/")[0], "wrong:", call("/admin/", user="admin@localhost", password="x")[0])
    for page in ("", "server/localhost/", "server/localhost/users/", "server/localhost/user/user3/", "nodes/",
                 "server/localhost/stats/", "server/localhost/online-users/", "stats/", "vhosts/", "nothing/"):
        status, body = call("/admin/" + page, user="admin@localhost")
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))
        # Times, and what depends on the machine.
        text = re.sub(r"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d(\.\d+)?|\d+ days?.*|[\d.]+", "#", text)
        print("page", page, status, len(text) > 100, text[:300])
    for path, body in (("/api/status", {}), ("/api/get_roster", {"user": "user1", "server": "localhost"}),
                       ("/api/stats", {"name": "registeredusers"}), ("/api/nosuch", {}), ("/api/check_account", [1])):
        status, answer = call(path, body)
        print(path, status, re.sub(r"ejabberd@\S+|systems_\w+@\S+", "NODE", answer)[:200])
    print("bosh:", call("/bosh")[0], "nothing:", call("/nothing")[0])


if sys.argv[1] == "first":
    register()
    asyncio.run(xmpp())
    mqtt_messages(mqtt.MQTTv311, "MQTT 3")
    mqtt_messages(mqtt.MQTTv5, "MQTT 5")
    mqtt_messages(mqtt.MQTTv5, "over a WebSocket", transport="websockets")
    mqtt_kept()
    pages()
else:
    asyncio.run(xmpp_after())
    mqtt_kept()
print("done")
