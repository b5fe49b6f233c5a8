"""Clients of the web servers of web.case: prints what came of each request."""
import hashlib
import http.client
import os
import re
import socket
import ssl
import subprocess

from websockets.sync.client import connect as websocket

YAWS, YAWS_TLS, HTTPD, CLEAR, TLS = (int(os.environ[n]) for n in ("YAWS", "YAWS_TLS", "HTTPD", "CLEAR", "TLS"))
TRUST = ssl.create_default_context(cafile="cert.pem")
LARGE = b"0123456789abcdef" * (4 << 16)  # 4 MB
SHOWN = ("content-type", "content-length", "transfer-encoding", "content-range", "location", "content-encoding", "allow", "connection", "server")


def show(name, answer):
    body = answer.read()
    heads = [(k.lower(), v) for k, v in answer.getheaders() if k.lower() in SHOWN]
    text = body if len(body) < 900 else (len(body), hashlib.sha256(body).hexdigest()[:16])
    if answer.status == 500:  # the page shows the name of a module that Yaws has made up
        heads, text = [h for h in heads if h[0] != "content-length"], re.sub(r"\s+", " ", re.sub(r"m_\d+", "m_N", body.decode()))
    print(name, answer.status,
          re.sub(r":\d{4,5}\b", ":PORT", str(sorted(heads))), re.sub(r":\d{4,5}\b", ":PORT", str(text).replace(os.path.dirname(os.getcwd()), "DIR")))


def requests(name, connection, tries):
    """All over one connection, while the server keeps it."""
    for method, path, body, headers in tries:
        try:
            connection.request(method, path, body, headers)
            show(f"{name} {method} {path}", connection.getresponse())
        except (http.client.HTTPException, OSError):
            print(name, method, path, "closed")
            connection.close()
    connection.close()


def parts(count):
    return (b"part %d " % n * 50 for n in range(count))


FILES = [("GET", "/index.html", None, {}), ("HEAD", "/index.html", None, {}), ("GET", "/", None, {}),
         ("GET", "/large.bin", None, {}), ("GET", "/large.bin", None, {"Range": "bytes=100-199"}),
         ("GET", "/large.bin", None, {"Range": "bytes=-50"}), ("GET", "/nosuch", None, {}), ("GET", "/dir", None, {}),
         ("GET", "/../cert.pem", None, {}), ("GET", "/%2e%2e/cert.pem", None, {}), ("POST", "/index.html", b"x=1", {})]
YAWS_PAGES = [("GET", "/page.yaws?a=1&b=%C3%BC", None, {}), ("POST", "/post.yaws", "x=1&y=zwei", {"Content-Type": "application/x-www-form-urlencoded"}),
              ("POST", "/upload.yaws", LARGE, {"Content-Type": "application/octet-stream"}),
              ("GET", "/stream.yaws", None, {}), ("GET", "/crash.yaws", None, {}), ("GET", "/page.yaws", None, {"Cookie": "c=1"}),
              ("GET", "/redirect.yaws", None, {})]
COWBOY = [("GET", "/echo?q=1", None, {}), ("POST", "/echo", b"body", {}), ("GET", "/chunks/50", None, {}),
          ("GET", "/chunks/50", None, {"Accept-Encoding": "gzip"}), ("POST", "/sum", LARGE, {}),
          ("GET", "/files/large.bin", None, {}), ("GET", "/files/large.bin", None, {"Range": "bytes=5-20"}),
          ("GET", "/files/nosuch", None, {}), ("GET", "/nosuch", None, {}), ("GET", "/crash", None, {}), ("PUT", "/echo", b"put", {})]


def raw(name, port, data):
    with socket.create_connection(("127.0.0.1", port), 20) as s:
        s.settimeout(20)
        s.sendall(data)
        if port != CLEAR:  # the others wait for more
            s.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while part := s.recv(65536):
                got += part
        except OSError as e:
            got += type(e).__name__.encode()
    print(name, len(re.findall(rb"HTTP/1.1 ", got)), re.findall(rb"HTTP/1.\d (\d+)", got))


def tool(*words):
    done = subprocess.run(words, capture_output=True, timeout=60)
    return done.returncode, done.stdout


def http2():
    base = f"https://127.0.0.1:{TLS}"
    for path in ("/echo?a", "/files/large.bin", "/chunks/1000", "/nosuch", "/crash"):
        status, out = tool("curl", "-sk", "--http2", "-w", " %{http_code} %{http_version}", base + path)
        print("HTTP/2", path, status, len(out), hashlib.sha256(out).hexdigest()[:16], out[-8:])
    with open("upload", "wb") as f:
        f.write(LARGE)
    print("HTTP/2 upload", tool("curl", "-sk", "--http2", "--data-binary", "@upload", base + "/sum"))
    print("prior knowledge", tool("curl", "-s", "--http2-prior-knowledge", f"http://127.0.0.1:{CLEAR}/echo?p"))
    print("upgrade", tool("curl", "-s", "--http2", f"http://127.0.0.1:{CLEAR}/echo?u"))
    status, out = tool("nghttp", "-ns", base + "/files/large.bin", base + "/echo", base + "/chunks/20")
    print("nghttp", status, re.findall(rb" (\d{3}) +\S+ +(/\S*)", out))
    for url in (base + "/echo", f"http://127.0.0.1:{CLEAR}/chunks/10"):
        status, out = tool("h2load", "-n2000", "-c10", "-m10", url)
        print("h2load", status, re.findall(rb"^(?:requests|status codes): .*$", out, re.M))


def websockets():
    for name, url, context in (("ws", f"ws://127.0.0.1:{CLEAR}/ws", None), ("wss", f"wss://localhost:{TLS}/ws", TRUST)):
        options = {"ssl": context} if context else {}
        with websocket(url, max_size=None, **options) as s:
            got = []
            for message in ("hello ü", b"\0\1\2", "x" * 300000, LARGE[:2000000]):
                s.send(message)
                got.append((s.recv(20) == message, s.recv(20)))
            s.send(iter(["in ", "three ", "frames"]))
            got.append((s.recv(20), s.recv(20)))
            s.send("later")
            got.append(s.recv(20))
            s.ping().wait(20)
            for n in range(500):
                s.send(f"m{n}")
            echoed = [s.recv(20) for _ in range(1000)]
            print(name, got, echoed[::2] == [f"m{n}" for n in range(500)], echoed[-1])


def plain(port):
    return http.client.HTTPConnection("127.0.0.1", port, 20)


def secure(port):
    return http.client.HTTPSConnection("localhost", port, timeout=20, context=TRUST)


requests("httpd", plain(HTTPD), FILES)
requests("yaws", plain(YAWS), FILES + YAWS_PAGES)
requests("yaws TLS", secure(YAWS_TLS), FILES[:5] + YAWS_PAGES[:4])
requests("cowboy", plain(CLEAR), COWBOY)
requests("cowboy TLS", secure(TLS), COWBOY[:6])
for name, connection, path in (("cowboy", plain(CLEAR), "/sum"), ("yaws", plain(YAWS), "/upload.yaws")):
    connection.request("POST", path, parts(1000), {"Content-Type": "application/octet-stream"}, encode_chunked=True)
    show(name + " chunked upload", connection.getresponse())
GET = b"GET /index.html HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /index.html HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
for name, port in (("httpd", HTTPD), ("yaws", YAWS), ("cowboy", CLEAR)):
    raw(name + " pipelined", port, GET * 4 + LAST)
    raw(name + " bad", port, b"NONSENSE\r\n\r\n")
    raw(name + " long", port, b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
    raw(name + " 1.0", port, b"GET /index.html HTTP/1.0\r\n\r\n")
websockets()
http2()
print("done")
