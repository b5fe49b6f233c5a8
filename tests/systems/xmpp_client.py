"""XMPP, MQTT and HTTP clients for tests/systems/ejabberd.case: prints what came of each step."""

import asyncio
import base64
import json
import logging
import re
import sys
import urllib.error
import urllib.request

import paho.mqtt.client as mqtt
import slixmpp

C2S, MQTT, HTTP = (int(a) for a in sys.argv[1:4])
USERS = 500
LIMIT = 120  # seconds for a step
logging.disable(logging.CRITICAL)


def call(path, body=None, user=None):
    """An HTTP request: status and body."""
    headers = {"Content-Type": "application/json"}
    if user:
        headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:secret".encode()).decode()
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{HTTP}{path}", data, headers)
    try:
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as e:
        return e.code, e.read().decode()


def register():
    names = ["admin", "mqtt"] + [f"user{n}" for n in range(USERS)]
    answers = [call("/api/register", {"user": n, "host": "localhost", "password": "secret"}) for n in names]
    print("registered:", sum(1 for status, _ in answers if status == 200), answers[0])
    print("again:", call("/api/register", {"user": "admin", "host": "localhost", "password": "x"}))
    print("users:", len(json.loads(call("/api/registered_users", {"host": "localhost"})[1])))


class User(slixmpp.ClientXMPP):
    def __init__(self, name, password="secret"):
        super().__init__(f"{name}@localhost/test", password)
        for plugin in ("xep_0030", "xep_0045", "xep_0092", "xep_0199", "xep_0313"):
            self.register_plugin(plugin)
        self.online = asyncio.get_event_loop().create_future()
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
        self.connect(address=("127.0.0.1", C2S))
        return await asyncio.wait_for(self.online, LIMIT)


async def messages(users):
    """Each sends a message to two others; what each gets is what was sent to him."""
    count = len(users)
    for i, user in enumerate(users):
        for step in (1, 7):
            user.send_message(mto=f"user{(i + step) % count}@localhost/test", mbody=f"{i} to {(i + step) % count} ü")
    good = 0
    for i, user in enumerate(users):
        got = [await asyncio.wait_for(user.received.get(), LIMIT) for _ in range(2)]
        good += sum(m["body"] in {f"{(i - s) % count} to {i} ü" for s in (1, 7)} for m in got)
    print(f"messages: {good} of {2 * count}")


async def services(users):
    one, two = users[:2]
    version = await one["xep_0092"].get_version("localhost")
    print("version:", version["software_version"]["name"], version["software_version"]["version"])
    items = await one["xep_0030"].get_items("localhost")
    print("items:", sorted(i[0] for i in items["disco_items"]["items"]))
    info = await one["xep_0030"].get_info("localhost")
    print("features:", sorted(info["disco_info"]["features"]))
    ping = await one["xep_0199"].ping("localhost")
    print("ping:", ping is not None)
    room = "room@conference.localhost"
    for user in (one, two):
        await user["xep_0045"].join_muc_wait(room, user.boundjid.user, maxstanzas=0, timeout=LIMIT)
    one.send_message(mto=room, mbody="hello room", mtype="groupchat")
    while (m := await asyncio.wait_for(two.received.get(), LIMIT))["body"] != "hello room":
        pass
    print("room:", m["from"], m["body"])
    archive = await one["xep_0313"].retrieve(with_jid=slixmpp.JID("user1@localhost"))
    found = archive["mam"]["results"]
    print("archive:", [r["mam_result"]["forwarded"]["stanza"]["body"] for r in found])
    # Kept for one who is not there.
    two.disconnect()
    await two.disconnected
    one.send_message(mto="user1@localhost", mbody="later")
    again = User("user1")
    print("again:", await again.log_in())
    m = await asyncio.wait_for(again.received.get(), LIMIT)
    print("offline:", m["from"], m["body"])
    users[1] = again


async def xmpp():
    wrong = User("user0", "wrong")
    print("wrong password:", await wrong.log_in())
    wrong.abort()
    users = [User(f"user{n}") for n in range(USERS)]
    online = []
    for at in range(0, USERS, 50):
        online += await asyncio.gather(*(u.log_in() for u in users[at:at + 50]))
    print("online:", sum(online), call("/api/connected_users_number", {}))
    print("mechanism:", sorted(users[0].plugin["feature_mechanisms"].mech_list), users[0].socket is not None)
    await messages(users)
    await services(users)
    for user in users:
        user.disconnect()
    await asyncio.gather(*(asyncio.wait_for(u.disconnected, LIMIT) for u in users))


def mqtt_client(name):
    client = mqtt.Client(client_id=name, clean_session=True)
    client.username_pw_set("mqtt@localhost", "secret")
    return client


def mqtt_messages():
    got, sent = [], 200
    ready = []
    sub, pub = mqtt_client("subscriber"), mqtt_client("publisher")
    sub.on_connect = lambda c, *_: c.subscribe("news/#", qos=1)
    sub.on_subscribe = lambda *_: ready.append(True)
    sub.on_message = lambda _c, _u, m: got.append((m.topic, m.payload.decode(), m.qos))
    sub.connect("127.0.0.1", MQTT)
    sub.loop_start()
    pub.connect("127.0.0.1", MQTT)
    pub.loop_start()
    until(lambda: ready)
    for n in range(sent):
        pub.publish(f"news/{n % 3}", f"item {n}", qos=n % 3)
    until(lambda: len(got) == sent)
    for client in (sub, pub):
        client.loop_stop()
        client.disconnect()
    print("mqtt:", len(got), sorted(got, key=lambda m: int(m[1].split()[1]))[:4])


def until(condition):
    import time

    end = time.monotonic() + LIMIT
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.05)


def pages():
    print("no user:", call("/admin/")[0])
    for page in ("", "server/localhost/", "server/localhost/users/", "server/localhost/user/user3/", "nodes/",
                 "server/localhost/stats/", "server/localhost/online-users/", "stats/", "vhosts/", "nothing/"):
        status, body = call("/admin/" + page, user="admin@localhost")
        text = re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))
        # Times, and what depends on the machine.
        text = re.sub(r"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d(\.\d+)?|\d+ days?.*|[\d.]+|Offline|Online|[A-Z][a-z]+ [A-Z]?\d*", "#", text)
        print("page", page, status, len(text) > 100, text[:300])


register()
asyncio.get_event_loop().run_until_complete(xmpp())
mqtt_messages()
pages()
print("done")
