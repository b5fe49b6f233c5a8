defmodule Shop0.Item do
  @moduledoc "What can be bought."
  @enforce_keys [:name, :price]
  defstruct [:name, :price, pieces: 0, tags: []]

  @type t :: %__MODULE__{name: String.t(), price: non_neg_integer, pieces: integer, tags: [atom]}

  @spec new(String.t(), non_neg_integer, keyword) :: t
  def new(name, price, options \\ []) when is_binary(name) and price >= 0 do
    struct!(__MODULE__, [name: name, price: price] ++ options)
  end

  @spec worth(t) :: non_neg_integer
  def worth(%__MODULE__{price: price, pieces: pieces}), do: price * pieces

  defimpl String.Chars do
    def to_string(%{name: name, price: price}), do: "#{name} (#{div(price, 100)}.#{rem(price, 100)})"
  end
end

defmodule Shop0.Store do
  @moduledoc "A server that keeps items."
  use GenServer
  alias Shop0.Item

  def start_link(options \\ []) do
    GenServer.start_link(__MODULE__, %{}, options)
  end

  def put(store, %Item{} = item), do: GenServer.call(store, {:put, item})
  def sell(store, name, pieces), do: GenServer.call(store, {:sell, name, pieces})
  def report(store), do: store |> GenServer.call(:all) |> lines() |> Enum.join("\n")

  @impl true
  def init(items), do: {:ok, items}

  @impl true
  def handle_call({:put, %Item{name: name} = item}, _from, items) do
    {:reply, :ok, Map.update(items, name, item, &%{&1 | pieces: &1.pieces + item.pieces})}
  end

  def handle_call({:sell, name, pieces}, _from, items) when pieces > 0 do
    with {:ok, item} <- Map.fetch(items, name),
         left when left >= 0 <- item.pieces - pieces do
      {:reply, {:ok, item.price * pieces}, %{items | name => %{item | pieces: left}}}
    else
      :error -> {:reply, {:error, :unknown}, items}
      missing when is_integer(missing) -> {:reply, {:error, {:missing, -missing}}, items}
    end
  end

  def handle_call(:all, _from, items), do: {:reply, Map.values(items), items}

  defp lines(items) do
    for %Item{pieces: pieces} = item <- Enum.sort_by(items, & &1.name), pieces > 0 do
      "#{String.pad_trailing(to_string(item), 30)} #{pieces} #{Item.worth(item)}"
    end
  end
end
