defmodule Endpoints.Echo do
  @moduledoc "A WebSocket that answers each message with the message."
  @behaviour WebSock

  @impl true
  def init(state), do: {:ok, state}
  @impl true
  def handle_in({data, [opcode: opcode]}, state), do: {:push, {opcode, data}, state}
  @impl true
  def handle_info(_message, state), do: {:ok, state}
end

defmodule Endpoints.Controller do
  @moduledoc "What the paths answer."
  import Plug.Conn

  def init(path), do: path

  def call(conn, :json) do
    body = Jason.encode!(for n <- 1..150, do: %{id: n, name: "name #{n}", tags: ["a", "ü", "\u2028"], ratio: n / 7})
    conn |> put_resp_content_type("application/json") |> send_resp(200, body)
  end

  def call(conn, :upload) do
    {size, hash, conn} = read(conn, 0, :crypto.hash_init(:md5))
    send_resp(conn, 200, "#{size} #{Base.encode16(:crypto.hash_final(hash))}")
  end

  def call(conn, :chunked) do
    Enum.reduce(1..20, send_chunked(conn, 200), fn n, conn ->
      {:ok, conn} = chunk(conn, String.duplicate("#{n} ", 1000))
      conn
    end)
  end

  def call(conn, :ws), do: conn |> WebSockAdapter.upgrade(Endpoints.Echo, [], timeout: 20_000) |> halt()

  defp read(conn, size, hash) do
    case read_body(conn, length: 100_000) do
      {more, data, conn} when more in [:more, :ok] ->
        next = {size + byte_size(data), :crypto.hash_update(hash, data), conn}
        if more == :ok, do: next, else: read(conn, elem(next, 0), elem(next, 1))
    end
  end
end

defmodule Endpoints.Router do
  use Plug.Router
  plug :match
  plug :dispatch
  get "/json", to: Endpoints.Controller, init_opts: :json
  post "/upload", to: Endpoints.Controller, init_opts: :upload
  get "/chunked", to: Endpoints.Controller, init_opts: :chunked
  get "/ws", to: Endpoints.Controller, init_opts: :ws
  match _, do: send_resp(conn, 404, "nothing here")
end

defmodule Endpoints.PhoenixRouter do
  use Phoenix.Router
  get "/json", Endpoints.Controller, :json
  post "/upload", Endpoints.Controller, :upload
  get "/chunked", Endpoints.Controller, :chunked
  get "/ws", Endpoints.Controller, :ws
end

defmodule Endpoints.PhoenixOnBandit do
  use Phoenix.Endpoint, otp_app: :endpoints
  plug Plug.RequestId
  plug Plug.Head
  plug Endpoints.PhoenixRouter
end

defmodule Endpoints.PhoenixOnCowboy do
  use Phoenix.Endpoint, otp_app: :endpoints
  plug Plug.RequestId
  plug Plug.Head
  plug Endpoints.PhoenixRouter
end

defmodule Endpoints.ErrorText do
  def render(_template, assigns), do: "error #{assigns.status}"
end

defmodule Endpoints.Application do
  @moduledoc "Four servers, each with and without TLS, on the ports that `$PORTS` lists in their order."
  use Application

  @servers [:bandit, :cowboy, :phoenix_on_bandit, :phoenix_on_cowboy]

  @doc "`[{server, port, port_of_tls}]`"
  def ports do
    list = System.fetch_env!("PORTS") |> String.split() |> Enum.map(&String.to_integer/1)
    Enum.zip_with(@servers, Enum.chunk_every(list, 2), fn server, [plain, tls] -> {server, plain, tls} end)
  end

  @impl true
  def start(_type, _args) do
    Supervisor.start_link(Enum.flat_map(ports(), &children/1), strategy: :one_for_one)
  end

  defp tls, do: [certfile: System.fetch_env!("CERTIFICATE"), keyfile: System.fetch_env!("CERTIFICATE_KEY")]
  defp loopback, do: {127, 0, 0, 1}

  defp children({:bandit, plain, tls}) do
    common = [plug: Endpoints.Router, ip: loopback(), startup_log: false]

    [
      Supervisor.child_spec({Bandit, [port: plain, scheme: :http] ++ common}, id: :bandit_plain),
      Supervisor.child_spec({Bandit, [port: tls, scheme: :https] ++ tls() ++ common}, id: :bandit_tls)
    ]
  end

  defp children({:cowboy, plain, tls}) do
    [
      Plug.Cowboy.child_spec(scheme: :http, plug: Endpoints.Router, options: [port: plain, ip: loopback()]),
      Plug.Cowboy.child_spec(scheme: :https, plug: Endpoints.Router, options: [port: tls, ip: loopback()] ++ tls())
    ]
  end

  defp children({:phoenix_on_bandit, plain, tls}),
    do: phoenix(Endpoints.PhoenixOnBandit, Bandit.PhoenixAdapter, plain, tls)

  defp children({:phoenix_on_cowboy, plain, tls}),
    do: phoenix(Endpoints.PhoenixOnCowboy, Phoenix.Endpoint.Cowboy2Adapter, plain, tls)

  defp phoenix(module, adapter, plain, tls) do
    Application.put_env(:endpoints, module,
      adapter: adapter,
      server: true,
      http: [port: plain, ip: loopback()],
      https: [port: tls, ip: loopback()] ++ tls(),
      secret_key_base: String.duplicate("secret", 12),
      render_errors: [formats: [html: Endpoints.ErrorText], layout: false]
    )

    [module]
  end
end
