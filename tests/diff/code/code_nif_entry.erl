%% A NIF stands in for its whole function, though compilers put the mark behind the allocation of a
%% frame or a test for heap. A function that is under way when its NIF comes ends as it began.
%% What destructors of resources may do.
-module(code_nif_entry).
-export([main/0, leaf/0, framed/0, building/1, last_words/2, encoded/1, under_way/1]).

main() ->
    "" = build(),
    t:p({before, leaf(), framed(), building(1)}),
    Self = self(),
    Pid = spawn_link(fun() -> Self ! {self(), under_way(Self)} end),
    receive {Pid, waits} -> ok end,
    ok = erlang:load_nif(filename:rootname(tmp()), []),
    Pid ! go,
    receive {Pid, R} -> t:p({under_way, R}) end,
    t:p({loaded, leaf(), framed(), building(1)}),
    T = {#{ok => nok}, 'caf\x{e9}', 1.5, [1, 2, 3], <<5:4>>},
    t:p({same_encoding, encoded(T) =:= term_to_binary(T)}),
    spawn(fun() -> last_words(Self, {last, [words, <<0:800>>]}) end),
    receive {last, Words} -> t:p({sent, Words}) end,
    Port = open_port({spawn, "cat"}, [stream, binary]),
    spawn(fun() -> last_words(Port, <<"to the port">>) end),
    receive {Port, {data, Data}} -> t:p({written, Data}) end,
    port_close(Port).

tmp() -> filename:join(os:getenv("DIFF_TMP", "/tmp"), "nif_entry.so").
source() -> filename:join(os:getenv("here", "."), "nif_entry.c").

build() ->
    Include = filename:join([code:root_dir(), "usr", "include"]),
    os:cmd("cc -O1 -w -shared -fPIC -I" ++ Include ++ " -o " ++ tmp() ++ " " ++ source()).

leaf() -> code.

%% Has a frame of two variables.
framed() ->
    A = leaf(),
    B = leaf(),
    C = leaf(),
    {A, B, C}.

%% Begins with a test for heap.
building(X) -> {X, [X | code], {X}}.

under_way(To) ->
    A = leaf(),
    To ! {self(), waits},
    receive go -> {A, leaf(), framed()} end.

last_words(_, _) -> erlang:nif_error(no_library).
encoded(_) -> erlang:nif_error(no_library).
