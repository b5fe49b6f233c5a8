"""A client of a cluster of RabbitMQ.
    declare PORT       makes the queues that $QUEUES names
    publish PORT…      publishes with confirms from several clients until there is a file `stop`, and
                       appends what is confirmed to the file `published`; a client whose node does not
                       answer goes to the next one
    check PORT         takes everything, and says whether all that was confirmed is there"""
import os
import sys
import threading
import time

import pika

TYPES = {"quorum": {"x-queue-type": "quorum"}, "mirrored": {}, "stream": {"x-queue-type": "stream"}}
QUEUES = {name: TYPES[name] for name in os.environ["QUEUES"].split()}
CLIENTS = 3  # for each queue
DURABLE = pika.BasicProperties(delivery_mode=2)
written = threading.Lock()


def connect(port):
    return pika.BlockingConnection(
        pika.ConnectionParameters(
            "127.0.0.1", port, heartbeat=6, socket_timeout=5, stack_timeout=10, blocked_connection_timeout=10
        )
    )


def declare(port):
    with connect(port) as connection:
        channel = connection.channel()
        for queue, arguments in QUEUES.items():
            channel.queue_declare(queue, durable=True, arguments=arguments)


def publish_on(port, queue, messages):
    """Publishes on one connection until it is lost. `messages[0]` is the next message to be confirmed."""
    with connect(port) as connection:
        channel = connection.channel()
        channel.confirm_delivery()
        while not os.path.exists("stop"):
            body = f"{queue} {messages[0]} {messages[1]}"
            try:
                channel.basic_publish("", queue, body.encode(), DURABLE, mandatory=True)
            except (pika.exceptions.NackError, pika.exceptions.UnroutableError):
                time.sleep(0.1)
                continue
            with written, open("published", "a") as file:
                file.write(body + "\n")
            messages[1] += 1
            time.sleep(0.02)


def client(number, queue, ports):
    messages = [number, 0]
    turn = number
    while not os.path.exists("stop"):
        try:
            publish_on(ports[turn % len(ports)], queue, messages)
        except (pika.exceptions.AMQPError, OSError):
            time.sleep(0.2)
        turn += 1


def publish(*ports):
    threads = [
        threading.Thread(target=client, args=(n, queue, ports)) for queue in QUEUES for n in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    open("stopped", "w").close()


def take(channel, queue):
    """All messages of a queue, each acknowledged. A message that comes again was not lost."""
    channel.basic_qos(prefetch_count=500)
    seen = set()
    arguments = {"x-stream-offset": "first"} if queue == "stream" else None
    for method, _, body in channel.consume(queue, inactivity_timeout=5, arguments=arguments):
        if method is None:
            break
        seen.add(body.decode())
        channel.basic_ack(method.delivery_tag)
    channel.cancel()
    return seen


def check(port):
    with open("published") as file:
        published = file.read().splitlines()
    with connect(port) as connection:
        channel = connection.channel()
        for queue in QUEUES:
            confirmed = {line for line in published if line.startswith(queue + " ")}
            lost = confirmed - take(channel, queue)
            print(f"{queue}:", "enough," if len(confirmed) > 1000 else f"only {len(confirmed)},", len(lost), "lost")
            for line in sorted(lost)[:5]:
                print("  lost:", line)


{"declare": declare, "publish": publish, "check": check}[sys.argv[1]](*map(int, sys.argv[2:]))
