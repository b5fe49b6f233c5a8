-module(reference_order).
-export([main/0]).

%% References made one after another are in order by what they stand for, then by age: nothing, a process or
%% a resource under OTP 25; since 26 an alias comes last, and those of one process together. All of it on one
%% scheduler: each makes numbers of its own.
main() ->
    {Pid, Monitor} = spawn_opt(fun run/0, [monitor, {scheduler, 1}]),
    receive {'DOWN', Monitor, process, Pid, normal} -> ok end.

run() ->
    Made = [{I, made(I rem 3)} || I <- lists:seq(1, 12)],
    t:p(numbers(Made)),
    Self = self(),
    Pids = [spawn_opt(fun() -> Self ! {I, alias()}, receive stop -> ok end end, [{scheduler, 1}]) || I <- lists:seq(1, 6)],
    Aliases = [receive {I, A} -> {I, A} end || I <- [2, 4, 6, 1, 3, 5]],
    t:p(numbers(Aliases)),
    Monitors = lists:append([monitors(I, P) || {I, P} <- lists:zip(lists:seq(1, 6), lists:reverse(Pids))]),
    t:p(numbers(Monitors)),
    t:p(maps:values(maps:from_list([{R, I} || {I, R} <- Monitors]))),
    t:p([A < make_ref() || {_, A} <- Aliases]),
    t:p([R =:= binary_to_term(term_to_binary(R)) || {_, R} <- Made ++ Aliases ++ Monitors]).

made(0) -> alias();
made(1) -> make_ref();
made(2) -> ets:new(?MODULE, []).

monitors(I, P) ->
    [{{I, alias}, monitor(process, P, [{alias, explicit_unalias}])}, {{I, plain}, monitor(process, P)}].

numbers(All) -> [I || {I, _} <- lists:keysort(2, All)].
