defmodule LabWeb.MixProject do
  use Mix.Project

  def project do
    [
      app: :lab_web,
      version: "0.1.0",
      deps: for(name <- ~w(bandit phoenix jason websock_adapter)a, do: {name, path: "../#{name}"})
    ]
  end

  def application, do: [extra_applications: [:logger]]
end
