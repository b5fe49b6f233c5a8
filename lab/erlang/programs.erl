%% Whole programs: one for each start, of the size that is named; what it comes
%% to is looked at.
%%
%%   erl -noshell -s programs start nbody 100000
-module(programs).
-export([start/1, missing/1]).

start([Name, Size]) ->
    Count = list_to_integer(atom_to_list(Size)),
    {Prepare, Run} = program(Name),
    Input = Prepare(Count),
    Start = erlang:monotonic_time(microsecond),
    Good = Run(Count, Input),
    Micros = max(1, erlang:monotonic_time(microsecond) - Start),
    ok = Good,
    io:format("programs/~w ~w in ~w s~n", [Name, Count, Micros / 1000000]),
    halt().

%% What is made ready before the clock starts, and the program.
program(nbody) -> {fun none/1, fun programs_math:nbody/2};
program(spectral_norm) -> {fun none/1, fun programs_math:spectral_norm/2};
program(mandelbrot) -> {fun none/1, fun programs_math:mandelbrot/2};
program(binary_trees) -> {fun none/1, fun programs_search:binary_trees/2};
program(sudoku) -> {fun none/1, fun programs_search:sudoku/2};
program(json) -> {fun programs_text:documents/1, fun programs_text:json/2};
program(json_library) -> {fun programs_text:library_documents/1, fun programs_text:json_library/2};
program(words) -> {fun programs_text:write_text/1, fun programs_text:words/2};
program(log) -> {fun programs_data:log_lines/1, fun programs_data:log/2};
program(cache) -> {fun none/1, fun programs_data:cache/2};
program(xml) -> {fun programs_data:xml_text/1, fun programs_data:xml/2};
program(lua) -> {fun programs_data:luerl_there/1, fun programs_data:lua/2};
program(xref) -> {fun programs_data:xref_there/1, fun programs_data:xref/2};
program(compile_stdlib) -> {fun none/1, fun compiles:stdlib/2};
program(compile_lists) -> {fun compiles:sources/1, fun compiles:lists/2};
program(dialyzer) -> {fun programs_tools:dialyzer_there/1, fun programs_tools:dialyzer/2};
program(mix_compile) -> {fun programs_tools:project/1, fun programs_tools:mix/2}.

none(_) -> none.

%% What a program needs is not here: it ends without having failed.
missing(What) ->
    io:format("missing ~s~n", [What]),
    halt().
