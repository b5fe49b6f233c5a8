"""A client of RabbitMQ: `put` publishes into a queue of each type and waits for every confirm, `get`
takes all of it back. Prints what it saw, none of which depends on time."""
import hashlib
import sys
import time

import pika

QUEUES = {
    "classic": {},
    "lazy": {"x-queue-mode": "lazy"},
    "quorum": {"x-queue-type": "quorum"},
    "stream": {"x-queue-type": "stream"},
}
MESSAGES = 500


def body(queue, n):
    return (f"{queue} {n} " * (1 + n % 50)).encode()


def put(channel):
    channel.confirm_delivery()
    durable = pika.BasicProperties(delivery_mode=2)
    for queue, arguments in QUEUES.items():
        channel.queue_declare(queue, durable=True, arguments=arguments)
        for n in range(MESSAGES):
            channel.basic_publish("", queue, body(queue, n), durable, mandatory=True)
        print(queue, "confirmed", MESSAGES)
    channel.exchange_declare("topics", "topic", durable=True)
    channel.queue_declare("bound", durable=True)
    channel.queue_bind("bound", "topics", "a.*.c")
    for key in ("a.b.c", "a.x.c", "a.b", "b.b.c"):
        try:
            channel.basic_publish("topics", key, b"m", durable, mandatory=True)
            print(key, "routed")
        except pika.exceptions.UnroutableError:
            print(key, "unroutable")


def take(channel, queue):
    """All messages of a queue, acknowledged when all are there."""
    channel.basic_qos(prefetch_count=MESSAGES)
    arguments = {"x-stream-offset": "first"} if queue == "stream" else None
    messages, last = [], None
    for method, _, message in channel.consume(queue, inactivity_timeout=30, arguments=arguments):
        if method is None:
            break
        messages.append(message)
        last = method.delivery_tag
        if len(messages) == MESSAGES:
            break
    if last is not None:
        channel.basic_ack(last, multiple=True)
    channel.cancel()
    return messages


def take_when_ready(queue):
    """A queue that has replicas serves nobody until it has a leader, which may be after the boot."""
    end = time.monotonic() + 60
    while True:
        try:
            with pika.BlockingConnection(parameters) as connection:
                return take(connection.channel(), queue)
        except pika.exceptions.AMQPError:
            if time.monotonic() > end:
                raise
            time.sleep(0.5)


def get(channel):
    for queue in QUEUES:
        messages = take_when_ready(queue)
        expected = [body(queue, n) for n in range(MESSAGES)]
        digest = hashlib.sha256(b"".join(messages)).hexdigest()[:16]
        order = "in order" if messages == expected else "out of order"
        print(queue, len(messages), digest, order)
    try:
        channel.queue_declare("nosuch", passive=True)
    except pika.exceptions.ChannelClosedByBroker as closed:
        print(closed.reply_code, closed.reply_text)


parameters = pika.ConnectionParameters("127.0.0.1", int(sys.argv[1]), heartbeat=0)
connection = pika.BlockingConnection(parameters)
{"put": put, "get": get}[sys.argv[2]](connection.channel())
connection.close()
