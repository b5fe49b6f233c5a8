# Asks each server the same, and prints what it answers. Lines do not depend on timing or ports.
defmodule Client do
  alias Mint.{HTTP, WebSocket}

  def run do
    for {server, plain, tls} <- Endpoints.Application.ports() do
      IO.puts("== #{server}")
      pipelined(plain)
      for {scheme, port, protocol} <- [{:http, plain, :http1}, {:https, tls, :http1}, {:https, tls, :http2}, {:http, plain, :http2}] do
        requests(scheme, port, protocol)
      end
      websocket(:http, :ws, plain)
      websocket(:https, :wss, tls)
    end
  end

  defp connect(scheme, port, protocol) do
    options = if scheme == :https, do: [transport_opts: [verify: :verify_none]], else: []
    {:ok, conn} = HTTP.connect(scheme, "localhost", port, [protocols: [protocol]] ++ options)
    conn
  end

  # Three requests in one packet, the last of which ends the connection.
  defp pipelined(port) do
    {:ok, socket} = :gen_tcp.connect(~c"localhost", port, [:binary, active: false])
    request = "GET /json HTTP/1.1\r\nhost: localhost\r\n"
    :ok = :gen_tcp.send(socket, [request, "\r\n", request, "\r\n", request, "connection: close\r\n\r\n"])
    answers = all(socket, "")
    IO.puts("pipelined: #{length(:binary.matches(answers, "HTTP/1.1 200 OK"))} answers, #{length(:binary.matches(answers, "\"id\":150"))} whole")
  end

  defp all(socket, so_far) do
    case :gen_tcp.recv(socket, 0, 20_000) do
      {:ok, data} -> all(socket, so_far <> data)
      {:error, :closed} -> so_far
    end
  end

  # On one connection: one after the other, then (HTTP/2) several at once, then an upload in pieces.
  defp requests(scheme, port, protocol) do
    conn = connect(scheme, port, protocol)
    conn = Enum.reduce(["/json", "/chunked", "/json", "/nothing"], conn, fn path, conn ->
      {:ok, conn, ref} = HTTP.request(conn, "GET", path, [], nil)
      {conn, answers} = answers(conn, [ref], %{})
      say("#{scheme} #{protocol} #{path}", answers[ref])
      conn
    end)

    conn = if protocol == :http2, do: at_once(conn, scheme), else: conn
    {:ok, conn, ref} = HTTP.request(conn, "POST", "/upload", [], :stream)
    conn = Enum.reduce(1..100, conn, fn n, conn ->
      send_piece(conn, ref, :binary.copy(<<n>>, 10_007))
    end)
    {:ok, conn} = HTTP.stream_request_body(conn, ref, :eof)
    {conn, answers} = answers(conn, [ref], %{})
    say("#{scheme} #{protocol} /upload", answers[ref])
    {:ok, _} = HTTP.close(conn)
  end

  defp at_once(conn, scheme) do
    {conn, refs} = Enum.reduce(1..20, {conn, []}, fn _, {conn, refs} ->
      {:ok, conn, ref} = HTTP.request(conn, "GET", "/json", [], nil)
      {conn, [ref | refs]}
    end)
    {conn, answers} = answers(conn, refs, %{})
    for ref <- Enum.take(refs, 1), do: say("#{scheme} http2 at once #{map_size(answers)}", answers[ref])
    IO.puts("all equal: #{answers |> Map.values() |> Enum.map(& &1.data) |> Enum.uniq() |> length()}")
    conn
  end

  # HTTP/2 sends only as much as the window allows.
  defp send_piece(conn, ref, data) do
    case HTTP.stream_request_body(conn, ref, data) do
      {:ok, conn} -> conn
      {:error, conn, %Mint.HTTPError{reason: {:exceeds_window_size, _, _}}} ->
        {conn, []} = next(conn, HTTP)
        send_piece(conn, ref, data)
    end
  end

  defp answers(conn, refs, got) do
    if Enum.all?(refs, &match?(%{done: true}, got[&1])) do
      {conn, got}
    else
      {conn, parts} = next(conn, HTTP)
      answers(conn, refs, Enum.reduce(parts, got, &part/2))
    end
  end

  defp part(entry, got) do
    ref = elem(entry, 1)
    answer = Map.get(got, ref, %{data: "", headers: [], done: false, status: nil})
    Map.put(got, ref, case entry do
      {:status, _, status} -> %{answer | status: status}
      {:headers, _, headers} -> %{answer | headers: answer.headers ++ headers}
      {:data, _, data} -> %{answer | data: answer.data <> data}
      {:done, _} -> %{answer | done: true}
    end)
  end

  defp say(what, answer) do
    headers = for {name, value} <- answer.headers, name not in ["date", "x-request-id"], do: "#{name}: #{value}"
    IO.puts("#{what}: #{answer.status} #{byte_size(answer.data)} #{Base.encode16(:crypto.hash(:md5, answer.data))} #{inspect(Enum.sort(headers))}")
  end

  defp websocket(scheme, ws, port) do
    conn = connect(scheme, port, :http1)
    {:ok, conn, ref} = WebSocket.upgrade(ws, conn, "/ws", [])
    {conn, status, headers} = upgraded(conn, ref, nil, nil)
    {:ok, conn, socket} = WebSocket.new(conn, ref, status, headers)
    frames = [{:text, "hello"}, {:ping, "p"}, {:binary, :binary.copy("0123456789", 300_000)}, {:text, String.duplicate("ü", 40_000)}, {:text, ""}]
    state = Enum.reduce(frames, {conn, socket}, fn frame, {conn, socket} ->
      {:ok, socket, data} = WebSocket.encode(socket, frame)
      {:ok, conn} = WebSocket.stream_request_body(conn, ref, data)
      {conn, socket, {kind, data}} = frame(conn, socket, ref)
      IO.puts("#{ws} #{kind} #{byte_size(data)} #{Base.encode16(:crypto.hash(:md5, data))}")
      {conn, socket}
    end)
    {conn, socket} = state
    {:ok, socket, data} = WebSocket.encode(socket, {:close, 1000, ""})
    {:ok, conn} = WebSocket.stream_request_body(conn, ref, data)
    {_conn, _socket, close} = frame(conn, socket, ref)
    IO.puts("#{ws} #{inspect(close)}")
  end

  defp upgraded(conn, ref, status, headers) do
    {conn, parts} = next(conn, WebSocket)
    Enum.reduce(parts, {conn, status, headers, false}, fn
      {:status, ^ref, status}, {conn, _, headers, done} -> {conn, status, headers, done}
      {:headers, ^ref, headers}, {conn, status, _, done} -> {conn, status, headers, done}
      {:done, ^ref}, {conn, status, headers, _} -> {conn, status, headers, true}
    end)
    |> case do
      {conn, status, headers, true} -> {conn, status, headers}
      {conn, status, headers, false} -> upgraded(conn, ref, status, headers)
    end
  end

  defp frame(conn, socket, ref) do
    {conn, parts} = next(conn, WebSocket)
    data = for {:data, ^ref, data} <- parts, into: "", do: data
    {:ok, socket, frames} = WebSocket.decode(socket, data)

    case frames do
      [] -> frame(conn, socket, ref)
      [{:close, code, text}] -> {conn, socket, {:close, {code, text}}}
      [frame] -> {conn, socket, frame}
    end
  end

  # What the next message of this connection brings; those of connections that were closed are passed over.
  defp next(conn, module) do
    message = receive do: (message -> message), after: (30_000 -> raise("no answer"))

    case module.stream(conn, message) do
      {:ok, conn, parts} -> {conn, parts}
      :unknown -> next(conn, module)
    end
  end
end

Logger.configure(level: :error)
Client.run()
IO.puts("done")
