# The project file of an Erlang library, which mix then compiles itself, without rebar3 or make. lib.sh gives the
# module a name of its own: mix keeps projects by that.
defmodule LIBRARY.MixProject do
  use Mix.Project

  def project do
    {name, keys} = description()
    # A parse transform may call applications that the library does not name, which rebar3 has in its code path.
    compiler = [erlc_options: [:debug_info], prune_code_paths: false]
    [app: name, version: version(keys[:vsn]), language: :erlang, deps: deps()] ++ compiler ++ aliases()
  end

  # rebar3 compiles these before the others, which may call them from a parse transform.
  defp aliases do
    with {:ok, settings} <- :file.consult("rebar.config"),
         [_ | _] = files <- settings[:erl_first_files] do
      [aliases: ["compile.erlang": [fn _ -> compile_first(files) end, "compile.erlang"]]]
    else
      _ -> []
    end
  end

  defp compile_first(files) do
    File.mkdir_p!(Mix.Project.compile_path())
    out = to_charlist(Mix.Project.compile_path())
    for file <- files, do: {:ok, _} = :compile.file(file, [:debug_info, i: ~c"include", outdir: out])
    Code.prepend_path(Mix.Project.compile_path())
  end

  def application do
    {_name, keys} = description()
    libraries = Keyword.drop(keys, [:vsn, :modules, :description, :applications, :optional_applications])
    needs = keys[:applications] -- [:kernel, :stdlib | Enum.map(deps(), &elem(&1, 0))]

    Keyword.take(libraries, [:mod, :env, :registered, :start_phases]) ++ [extra_applications: needs]
  end

  # Releases of Erlang libraries need not have three numbers, and `git` stands for what git says.
  defp version(given) do
    text = to_string(given)
    if match?({:ok, _}, Version.parse(text)), do: text, else: "0.0.0"
  end

  defp description do
    [file | _] = Path.wildcard("src/*.app.src") ++ Path.wildcard("ebin/*.app")
    {:ok, [{:application, name, keys}]} = :file.consult(file)
    {name, keys}
  end

  defp deps, do: []
end
