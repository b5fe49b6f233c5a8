%% process_dump in a match specification: what it says of the process, its frames and their registers, without
%% addresses, offsets and sizes.
-module(process_dump).
-export([main/0, outer/1, in_catch/1, in_try/2, traced/1, deep/2]).

main() ->
    show(plain, fun() -> outer({tuple, [1, 2, 3], <<"bin">>}) end),
    show(in_catch, fun() -> in_catch("abc") end),
    show(in_try, fun() -> in_try(#{a => 1.5}, 'odd atom') end),
    show(deep, fun() -> deep(3, []) end),
    show(named, fun() -> register(process_dump, self()), outer(x) end),
    show(dictionary, fun() -> put(key, [1, 2]), outer(x) end),
    show(linked, fun() -> link(whereis(init)), outer(x) end),
    show(bif, {lists, member, 2}, fun() -> {lists:member(t:id(a), [b, a]), 1} end),
    show(tail, fun() -> traced(x) end),
    show(sensitive, fun() -> process_flag(sensitive, true), outer(x) end).

outer(T) -> R = traced(T), {R, T}.
in_catch(T) -> R = (catch traced(T)), {R, T}.
in_try(A, B) -> try traced(A) of R -> {R, B} catch _:_ -> {A, B} after t:id(B) end.
deep(0, L) -> {traced(L), L};
deep(N, L) -> R = deep(N - 1, [N | L]), true = N > 0, {R, L}.
traced(T) -> {T, 1}.

show(Name, F) -> show(Name, {?MODULE, traced, 1}, F).
show(Name, Traced, F) ->
    Me = self(),
    Tracer = spawn_link(fun() -> receive {trace, _, call, _, Text} -> Me ! {text, self(), Text} end end),
    P = spawn(fun() -> receive go -> F(), Me ! ran, ok end end),
    erlang:trace(P, true, [call, {tracer, Tracer}]),
    1 = erlang:trace_pattern(Traced, [{'_', [], [{message, {process_dump}}]}], [local]),
    P ! go,
    receive ran -> ok end,
    io:format("~p~n", [Name]),
    receive {text, Tracer, Text} -> [io:format("  ~ts~n", [L]) || L <- lines(Text)]
    after 300 -> io:format("  nothing~n")
    end,
    unlink(Tracer), exit(Tracer, kill),
    erlang:trace_pattern(Traced, false, [local]).

%% What does not depend on the machine: the program counter and the last call are where OTP last stopped the process.
lines(Text) ->
    Kept = ["=proc:", "State: ", "Name: ", "Spawned as: ", "Spawned by: ",
            "Message queue length: ", "Link list: ", "Dictionary: ", "Stack dump:", "0x", "y(", "Internal State: "],
    [plain(L) || L <- binary:split(Text, <<"\n">>, [global]), lists:any(fun(K) -> string:prefix(L, K) =/= nomatch end, Kept)].
plain(L) ->
    re:replace(re:replace(L, "0x[0-9a-f]+", "ADDRESS", [global]), " \\+ [0-9]+|<0[.0-9]*>", "", [global]).
