defmodule LabWeb.Echo do
  @moduledoc "A WebSocket that answers each message with the message."
  @behaviour WebSock

  @impl true
  def init(state), do: {:ok, state}
  @impl true
  def handle_in({data, [opcode: opcode]}, state), do: {:push, {opcode, data}, state}
  @impl true
  def handle_info(_message, state), do: {:ok, state}
end

defmodule LabWeb.Content do
  @moduledoc "What `lab_server.erl` answers too."

  def plain, do: "Hello, World!"

  def items do
    for n <- 1..66 do
      %{
        id: n,
        name: "an item with a name",
        price: n * 1.25,
        tags: ["red", "green", "blue"],
        available: rem(n, 2) == 0,
        text: "Some words that say what it is."
      }
    end
  end
end

defmodule LabWeb.Router do
  @moduledoc "Plug alone."
  use Plug.Router
  plug :match
  plug :dispatch

  get "/plain" do
    conn |> put_resp_content_type("text/plain") |> send_resp(200, LabWeb.Content.plain())
  end

  get "/json" do
    body = Jason.encode_to_iodata!(%{items: LabWeb.Content.items()})
    conn |> put_resp_content_type("application/json") |> send_resp(200, body)
  end

  get "/ws" do
    conn |> WebSockAdapter.upgrade(LabWeb.Echo, [], timeout: :infinity) |> halt()
  end
end

defmodule LabWeb.Controller do
  @moduledoc "The same by Phoenix."
  use Phoenix.Controller, formats: [:json]

  def plain(conn, _params), do: text(conn, LabWeb.Content.plain())
  def items(conn, _params), do: json(conn, %{items: LabWeb.Content.items()})
end

defmodule LabWeb.PhoenixRouter do
  use Phoenix.Router, helpers: false

  pipeline :api do
    plug :accepts, ["json"]
  end

  scope "/" do
    pipe_through :api
    get "/plain", LabWeb.Controller, :plain
    get "/json", LabWeb.Controller, :items
  end
end

defmodule LabWeb.Endpoint do
  @moduledoc "What `mix phx.new --no-html` puts before a router."
  use Phoenix.Endpoint, otp_app: :lab_web

  plug Plug.RequestId
  plug Plug.Telemetry, event_prefix: [:phoenix, :endpoint]
  plug Plug.Parsers, parsers: [:urlencoded, :multipart, :json], pass: ["*/*"], json_decoder: Jason
  plug Plug.MethodOverride
  plug Plug.Head
  plug Plug.Session, store: :cookie, key: "_lab_key", signing_salt: "salt of lab", same_site: "Lax"
  plug LabWeb.PhoenixRouter
end

defmodule LabWeb do
  @moduledoc """
  Elixir's web servers to measure, on the port that is given. No connection is ever closed for its age,
  and no request is logged.

      erl -noshell -run Elixir.LabWeb bandit 4000
      erl -noshell -run Elixir.LabWeb phoenix 4000
  """

  def bandit([port]) do
    start([{Bandit, [plug: LabWeb.Router, startup_log: false] ++ options(port)}])
  end

  def phoenix([port]) do
    Application.put_env(:phoenix, :logger, false)
    Application.put_env(:phoenix, :json_library, Jason)

    Application.put_env(:lab_web, LabWeb.Endpoint,
      adapter: Bandit.PhoenixAdapter,
      server: true,
      http: options(port),
      secret_key_base: String.duplicate("secret", 12)
    )

    start([LabWeb.Endpoint])
  end

  # The servers live as long as the process that starts them.
  defp start(children) do
    spawn(fn ->
      for app <- [:logger, :bandit, :phoenix], do: {:ok, _} = Application.ensure_all_started(app)
      Logger.configure(level: :error)
      {:ok, _} = Supervisor.start_link(children, strategy: :one_for_one)
      Process.sleep(:infinity)
    end)
  end

  defp options(port) do
    [
      ip: {127, 0, 0, 1},
      port: List.to_integer(port),
      thousand_island_options: [read_timeout: :infinity, transport_options: [backlog: 4096]],
      http_1_options: [max_requests: 0]
    ]
  end
end
