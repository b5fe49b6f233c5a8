defmodule CaseList do
  @moduledoc "A formatter of ExUnit that writes each case with its result into the file `$CASE_LIST`."
  use GenServer

  @impl true
  def init(_options), do: {:ok, []}

  @impl true
  def handle_cast({:test_finished, test}, cases), do: {:noreply, [entry(test) | cases]}

  def handle_cast({:suite_finished, _times}, cases) do
    File.write!(System.fetch_env!("CASE_LIST"), Enum.sort(cases))
    {:noreply, cases}
  end

  def handle_cast(_event, cases), do: {:noreply, cases}

  defp entry(test) do
    name = test.name |> Atom.to_string() |> String.replace("\n", " ")
    [inspect(test.module), " | ", name, " | ", result(test.state), "\n"]
  end

  defp result(nil), do: "passed"
  defp result({state, _why}), do: Atom.to_string(state)
end
