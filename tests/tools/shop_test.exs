# What `mix test` runs in tests/tools: thirty tests of what Elixir's programs are made of.
defmodule Counter do
  use GenServer
  def start_link(n), do: GenServer.start_link(__MODULE__, n)
  def init(n), do: {:ok, n}
  def handle_call(:get, _from, n), do: {:reply, n, n}
  def handle_call(:crash, _from, _), do: raise("asked to")
  def handle_cast({:add, k}, n), do: {:noreply, n + k}
  def handle_info(:tick, n), do: {:noreply, n + 1}
end

defmodule ShopTest do
  use ExUnit.Case, async: true
  import ExUnit.CaptureIO
  import ExUnit.CaptureLog

  describe "GenServer" do
    test "calls and casts" do
      {:ok, pid} = Counter.start_link(1)
      GenServer.cast(pid, {:add, 4})
      assert GenServer.call(pid, :get) == 5
    end

    test "messages" do
      pid = start_supervised!({Counter, 0} |> Supervisor.child_spec(id: :c))
      for _ <- 1..3, do: send(pid, :tick)
      assert GenServer.call(pid, :get) == 3
    end

    test "a crash is logged, and reaches the caller" do
      Process.flag(:trap_exit, true)
      {:ok, pid} = Counter.start_link(0)

      log =
        capture_log(fn ->
          assert {{%RuntimeError{message: "asked to"}, _}, _} = catch_exit(GenServer.call(pid, :crash))
          assert_receive {:EXIT, ^pid, _}
        end)

      assert log =~ "asked to"
    end

    test "a call that takes too long" do
      pid = spawn(fn -> Process.sleep(:infinity) end)
      assert {:timeout, _} = catch_exit(GenServer.call(pid, :get, 20))
    end
  end

  describe "Task" do
    test "await" do
      assert Task.await(Task.async(fn -> 6 * 7 end)) == 42
    end

    test "async_stream keeps the order" do
      squares = 1..20 |> Task.async_stream(&(&1 * &1), max_concurrency: 4) |> Enum.map(&elem(&1, 1))
      assert squares == Enum.map(1..20, &(&1 * &1))
    end

    test "yield and shutdown" do
      t = Task.async(fn -> Process.sleep(:infinity) end)
      assert Task.yield(t, 10) == nil
      assert Task.shutdown(t, :brutal_kill) == nil
    end

    test "of a supervisor" do
      sup = start_supervised!(Task.Supervisor)
      assert sup |> Task.Supervisor.async_nolink(fn -> :done end) |> Task.await() == :done
    end
  end

  describe "Agent" do
    test "get and update" do
      {:ok, a} = Agent.start_link(fn -> %{} end)
      Agent.update(a, &Map.put(&1, :k, 1))
      assert Agent.get_and_update(a, &{&1.k, %{&1 | k: 2}}) == 1
      assert Agent.get(a, & &1) == %{k: 2}
    end

    test "from many at once" do
      {:ok, a} = Agent.start_link(fn -> 0 end)
      1..100 |> Enum.map(fn _ -> Task.async(fn -> Agent.update(a, &(&1 + 1)) end) end) |> Task.await_many()
      assert Agent.get(a, & &1) == 100
    end
  end

  describe "Registry" do
    test "unique names" do
      start_supervised!({Registry, keys: :unique, name: R1})
      {:ok, _} = Agent.start_link(fn -> 7 end, name: {:via, Registry, {R1, "a"}})
      assert Agent.get({:via, Registry, {R1, "a"}}, & &1) == 7
      assert [{pid, _}] = Registry.lookup(R1, "a")
      Agent.stop(pid)
      assert Registry.lookup(R1, "b") == []
    end

    test "dispatch" do
      start_supervised!({Registry, keys: :duplicate, name: R2})
      for v <- [:a, :b], do: {:ok, _} = Registry.register(R2, "topic", v)
      Registry.dispatch(R2, "topic", fn all -> for {pid, v} <- all, do: send(pid, {:got, v}) end)
      assert_received {:got, :a}
      assert_received {:got, :b}
    end
  end

  describe "Stream" do
    test "is lazy" do
      assert 1 |> Stream.iterate(&(&1 * 2)) |> Stream.filter(&(rem(&1, 3) == 1)) |> Enum.take(4) == [1, 4, 16, 64]
    end

    test "resource" do
      s = Stream.resource(fn -> 3 end, fn 0 -> {:halt, 0}; n -> {[n], n - 1} end, fn _ -> send(self(), :closed) end)
      assert Enum.to_list(s) == [3, 2, 1]
      assert_received :closed
    end

    test "zip and chunk" do
      assert Stream.zip(1..3, Stream.cycle([:a, :b])) |> Enum.to_list() == [{1, :a}, {2, :b}, {3, :a}]
      assert Enum.chunk_every(1..5, 2) == [[1, 2], [3, 4], [5]]
    end
  end

  describe "String" do
    test "graphemes" do
      assert String.graphemes("e\u0301a") == ["é" |> String.normalize(:nfd), "a"]
      assert String.length("👩‍👩‍👧") == 1
    end

    test "upcase, split, pad" do
      assert String.upcase("straße") == "STRASSE"
      assert String.split(" a  b ", " ", trim: true) == ["a", "b"]
      assert String.pad_leading("7", 3, "0") == "007"
    end

    test "jaro distance and normal forms" do
      assert_in_delta String.jaro_distance("Dwayne", "Duane"), 0.822, 0.001
      assert String.normalize("ê", :nfd) |> String.normalize(:nfc) == "ê"
    end
  end

  describe "Regex" do
    test "names" do
      assert Regex.named_captures(~r/(?<y>\d{4})-(?<m>\d\d)/, "on 2024-05") == %{"m" => "05", "y" => "2024"}
    end

    test "replace and scan" do
      assert Regex.replace(~r/(\w)(\w)/u, "äbcd", "\\2\\1") == "bädc"
      assert Regex.scan(~r/\d+/, "1 22 333") == [["1"], ["22"], ["333"]]
    end

    test "split, and what does not compile" do
      assert Regex.split(~r{,\s*}, "a, b,c") == ["a", "b", "c"]
      assert {:error, {_, 0}} = Regex.compile("*")
    end
  end

  describe "Date" do
    test "differences and weekdays" do
      assert Date.diff(~D[2024-03-01], ~D[2024-02-01]) == 29
      assert Date.day_of_week(~D[2022-10-08]) == 6
    end

    test "times with zones" do
      assert {:ok, t, 7200} = DateTime.from_iso8601("2022-10-08T12:00:00+02:00")
      assert DateTime.to_unix(t) == 1_665_223_200
      assert Calendar.strftime(t, "%a %d %b %H:%M") == "Sat 08 Oct 10:00"
    end
  end

  describe "File" do
    @tag :tmp_dir
    test "write, stream, list", %{tmp_dir: dir} do
      path = Path.join(dir, "a.txt")
      File.write!(path, "one\ntwo\nthree\n")
      assert path |> File.stream!() |> Enum.map(&String.trim/1) == ["one", "two", "three"]
      assert File.ls!(dir) == ["a.txt"]
      assert {:error, :enoent} = File.read(path <> "x")
    end

    @tag :tmp_dir
    test "copy and stat", %{tmp_dir: dir} do
      File.mkdir_p!(Path.join(dir, "b/c"))
      File.write!(Path.join(dir, "b/c/d"), "x")
      assert {:ok, _} = File.cp_r(Path.join(dir, "b"), Path.join(dir, "e"))
      assert File.stat!(Path.join(dir, "e/c/d")).size == 1
    end
  end

  describe "ports" do
    test "cat" do
      port = Port.open({:spawn, "cat"}, [:binary])
      Port.command(port, "hello")
      assert_receive {^port, {:data, "hello"}}, 5000
      Port.close(port)
    end

    test "System.cmd" do
      assert System.cmd("sh", ["-c", "echo out; exit 3"]) == {"out\n", 3}
      assert System.cmd("sh", ["-c", "echo $X"], env: [{"X", "y"}]) == {"y\n", 0}
    end
  end

  describe "language" do
    test "protocols and structs" do
      assert Enum.into([a: 1], %{}) == %{a: 1}
      assert inspect(%URI{host: "h"}) =~ ~s(host: "h")
      assert_raise Protocol.UndefinedError, fn -> Enum.count(1) end
    end

    test "macros and evaluation" do
      assert Code.eval_string("Enum.sum(for x <- xs, x > 1, do: x)", xs: [1, 2, 3]) |> elem(0) == 5
      assert Macro.to_string(quote(do: if(a, do: b))) == "if a do\n  b\nend"
    end

    test "output" do
      assert capture_io(fn -> IO.inspect(%{b: 1, a: [x: "é"]}) end) == "%{a: [x: \"é\"], b: 1}\n"
    end
  end
end
