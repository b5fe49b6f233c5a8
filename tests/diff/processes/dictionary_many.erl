%% A process dictionary with many keys of all kinds; schedulers put offline; rethrown exceptions.
-module(dictionary_many).
-export([main/0]).

main() ->
    Keys = [K || N <- lists:seq(1, 2000), K <- [N, {k, N}, float(N), integer_to_list(N), <<N:32>>]],
    [undefined = put(K, {v, K}) || K <- Keys],
    true = lists:all(fun(K) -> get(K) =:= {v, K} end, Keys),
    io:format("~p~n", [length(get())]),
    Odd = [K || {I, K} <- lists:zip(lists:seq(1, length(Keys)), Keys), I rem 2 =:= 1],
    [{v, K} = erase(K) || K <- Odd],
    io:format("~p ~p~n", [length(get_keys()), lists:any(fun(K) -> get(K) =/= undefined end, Odd)]),
    true = lists:all(fun(K) -> get(K) =:= {v, K} end, Keys -- Odd),
    erlang:garbage_collect(),
    true = lists:all(fun(K) -> get(K) =:= {v, K} end, Keys -- Odd),
    io:format("~p~n", [length(get_keys({v, 2.0}))]),
    erase(),
    io:format("~p~n", [get()]),
    class_change(),
    bad_time(),
    schedulers().

%% `erlang:raise/3` may change the class, also past an `after`.
class_change() ->
    R = try
            try try throw(x) catch throw:V:S -> erlang:raise(error, V, S) end
            after io:format("after~n")
            end
        catch C:W -> {C, W}
        end,
    io:format("~p~n", [R]).

%% A receive with a bad time looks at no message; the next one sees all.
bad_time() ->
    self() ! first,
    R = try receive second -> ok after id(never) -> ok end catch C:W -> {C, W} end,
    io:format("~p ~p~n", [R, receive first -> found after 1000 -> lost end]).

schedulers() ->
    N = erlang:system_info(schedulers),
    Old = erlang:system_flag(schedulers_online, 1),
    One = erlang:system_info(schedulers_online),
    Sum = lists:sum(par([fun() -> lists:sum(lists:seq(1, 1000 * I)) end || I <- lists:seq(1, 20)])),
    erlang:system_flag(schedulers_online, Old),
    io:format("~p ~p ~p~n", [One, Sum, erlang:system_info(schedulers_online) =:= Old]),
    Blocked = erlang:system_flag(multi_scheduling, block),
    Free = erlang:system_flag(multi_scheduling, unblock),
    io:format("~p~n", [{Blocked, Free} =:= {blocked, enabled} orelse N =:= 1]),
    io:format("~p~n", [catch_it(fun() -> erlang:system_flag(schedulers_online, N + 1) end)]).

par(Fs) ->
    Me = self(),
    [receive {P, R} -> R end || P <- [spawn(fun() -> Me ! {self(), F()} end) || F <- Fs]].

catch_it(F) -> try F() catch C:R -> {C, R} end.
id(X) -> X.
