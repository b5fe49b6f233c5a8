defmodule Shop0.Rules do
  @moduledoc "Discounts, written down as rules."
  defmacro __using__(_) do
    quote do
      import Shop0.Rules, only: [rule: 2]
      Module.register_attribute(__MODULE__, :rules, accumulate: true)
      @before_compile Shop0.Rules
    end
  end

  defmacro rule(name, do: body) do
    function = :"rule_#{name}"

    quote do
      @rules unquote(function)
      def unquote(function)(var!(order)), do: unquote(body)
    end
  end

  defmacro __before_compile__(env) do
    rules = env.module |> Module.get_attribute(:rules) |> Enum.reverse()

    quote do
      def apply_all(order), do: Enum.reduce(unquote(rules), order, &apply(__MODULE__, &1, [&2]))
      def names, do: unquote(rules)
    end
  end
end

defmodule Shop0.Discounts do
  use Shop0.Rules

  rule :many do
    case order do
      %{pieces: n, price: p} when n >= 1000 -> %{order | price: p * 90 / 100}
      %{pieces: n, price: p} when n >= 100 -> %{order | price: p * 95 / 100}
      _ -> order
    end
  end

  rule :friends do
    if order[:friend], do: Map.update!(order, :price, &(&1 * 0.98)), else: order
  end

  rule :round do
    try do
      %{order | price: Float.round(order.price / 1, 2)}
    rescue
      ArithmeticError -> Map.put(order, :error, :price)
      error in [KeyError, FunctionClauseError] -> Map.put(order, :error, Exception.message(error))
    end
  end

  def best(orders) do
    orders
    |> Stream.map(&apply_all/1)
    |> Stream.reject(&Map.has_key?(&1, :error))
    |> Enum.group_by(& &1.price, & &1.name)
    |> Enum.min_by(fn {price, _} -> price end, fn -> nil end)
  end
end

defprotocol Shop0.Priced do
  @doc "What it costs, in cents."
  def price(thing)
end

defimpl Shop0.Priced, for: Map do
  def price(%{price: price, pieces: pieces}), do: price * pieces
end

defimpl Shop0.Priced, for: List do
  def price(things), do: things |> Enum.map(&Shop0.Priced.price/1) |> Enum.sum()
end
