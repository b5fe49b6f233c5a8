# Functions for `run`, its cases and `rabbitmq_soak`. $BUILD is where packages and clients are kept.
# A port that nobody uses, below those that the kernel gives to connections, which would take it meanwhile.
free_port() {
  python3 -c '
import random, socket
while True:
    port = random.randrange(20000, 32000)
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
    print(port)
    break'
}
# wait_for SECONDS COMMAND…: until the command succeeds
wait_for() {
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || { echo "timeout: $*"; return 1; }
    sleep 0.2
  done
}
# end_epmd: ends the daemon at $ERL_EPMD_PORT. It refuses while nodes are registered that are about to end.
end_epmd() {
  local end=$((SECONDS + 10))
  while epmd -names >/dev/null 2>&1 && [ $SECONDS -lt $end ]; do
    epmd -kill >/dev/null 2>&1 || sleep 0.2
  done
}
# unpacked PACKAGE: the folder of a Debian package that is unpacked and not installed
unpacked() {
  local dir=$BUILD/packages/$1
  if [ ! -d "$dir" ]; then
    mkdir -p "$dir.part" && (cd "$dir.part" && apt-get download -q "$1" && dpkg -x ./*.deb . && rm ./*.deb) >/dev/null 2>&1 &&
      mv "$dir.part" "$dir"
  fi
  echo "$dir"
}
# erlang_dependencies PACKAGE: the Erlang packages that this Debian's PACKAGE needs, or its own name if there is none such
erlang_dependencies() {
  local names
  names=$(apt-cache depends --important "$1" 2>/dev/null | awk '$1 == "Depends:" && $2 ~ /^erlang-/ { print $2 }')
  echo ${names:-$1}
}
# rabbitmq_server: the folder of RabbitMQ, of whatever version the Debian that runs has
rabbitmq_server() {
  local at
  for at in "$(unpacked rabbitmq-server)"/usr/lib/rabbitmq/lib/rabbitmq_server-*; do
    [ ! -x "$at/sbin/rabbitmq-server" ] || { echo "$at"; return; }
  done
  return 1
}
# python_packages: the folder of the Python clients, from PyPI
python_packages() {
  local dir=$BUILD/python
  if [ ! -d "$dir" ]; then
    rm -rf "$dir.part"
    python3 -m pip install -q --target "$dir.part" slixmpp==1.17.0 paho-mqtt==2.2.0 pika==1.4.4 websockets==17.4 >/dev/null 2>&1 &&
      mv "$dir.part" "$dir"
  fi
  echo "$dir"
  [ -d "$dir" ]
}
