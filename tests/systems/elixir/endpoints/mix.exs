defmodule Endpoints.MixProject do
  use Mix.Project

  def project do
    [
      app: :endpoints,
      version: "0.1.0",
      start_permanent: true,
      deps: for(name <- ~w(bandit plug_cowboy phoenix jason websock_adapter mint mint_web_socket)a, do: {name, path: "../#{name}"})
    ]
  end

  def application, do: [mod: {Endpoints.Application, []}, extra_applications: [:logger, :ssl]]
end
