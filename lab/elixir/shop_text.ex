defmodule Shop0.Text do
  @moduledoc "Orders as text, and back."
  import Bitwise

  units = [piece: 1, pair: 2, dozen: 12, gross: 144]

  for {unit, count} <- units do
    def count(unquote(Atom.to_string(unit))), do: {:ok, unquote(count)}
  end

  def count(other) when is_binary(other), do: {:error, {:unit, other}}

  @doc "`12 dozen eggs; 1 pair shoes`"
  def parse(text) do
    text
    |> String.split(";", trim: true)
    |> Enum.map(&String.trim/1)
    |> Enum.reduce_while({:ok, []}, fn line, {:ok, sofar} ->
      case order(line) do
        {:ok, order} -> {:cont, {:ok, [order | sofar]}}
        {:error, _} = error -> {:halt, error}
      end
    end)
  end

  defp order(line) do
    with [number, unit, name] <- String.split(line, " ", parts: 3),
         {n, ""} <- Integer.parse(number),
         {:ok, each} <- count(unit) do
      {:ok, {name, n * each}}
    else
      {:error, _} = error -> error
      _ -> {:error, {:line, line}}
    end
  end

  @doc "Length, flags and name, packed."
  def pack({name, count}) do
    flags = if(count > 1000, do: 1, else: 0) ||| if(count < 0, do: 2, else: 0)
    <<byte_size(name)::16, flags::8, count::signed-32, name::binary>>
  end

  def unpack(<<size::16, flags::8, count::signed-32, name::binary-size(size), rest::binary>>, sofar)
      when (flags &&& 0xFC) == 0 do
    unpack(rest, [{name, count} | sofar])
  end

  def unpack(<<>>, sofar), do: {:ok, Enum.reverse(sofar)}
  def unpack(rest, _), do: {:error, {:left, byte_size(rest)}}

  def checksum(binary), do: for(<<byte <- binary>>, reduce: 7, do: (sum -> sum * 31 + byte &&& 0xFFFF))
end
