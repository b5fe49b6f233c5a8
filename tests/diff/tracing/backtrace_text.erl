%% process_info(Pid, backtrace): where a process is, its frames and their registers, without addresses and offsets.
-module(backtrace_text).
-export([main/0, 'odd name'/1, 'T'/1, in_catch/1, in_try/2, deep/2]).

main() ->
    show(self_seen, 'odd name'([1, 2 | {x, "abc", #{a => 1}}])),
    show(in_catch, catch in_catch({a, b})),
    show(in_try, in_try(<<"bin">>, 1.5)),
    show(deep, deep(3, [])),
    P = spawn(fun() -> 'T'(key), ok end),
    show(waiting, seen(P, {?MODULE, 'T', 1})),
    Q = spawn(fun() -> X = (catch deep_wait(2)), exit(X) end),
    show(waiting_deep, seen(Q, {?MODULE, deep_wait, 1})),
    io:format("~p~n", [process_info(dead(), backtrace)]),
    S = spawn(fun() -> process_flag(sensitive, true), 'T'(key) end),
    io:format("~p~n", [seen(S, {?MODULE, 'T', 1})]).

'odd name'(T) -> {Me, B} = {self(), own()}, {backtrace, Text} = B, Me = self(), hd([Text, T]).
own() -> process_info(self(), backtrace).
in_catch(T) -> X = (catch own()), {backtrace, B} = X, element(1, {B, T}).
in_try(A, B) -> try own() of {backtrace, T} -> element(1, {T, A, B}) catch _:_ -> {A, B} after ok end.
deep(0, L) -> {backtrace, B} = own(), element(1, {B, L});
deep(N, L) -> R = deep(N - 1, [N | L]), true = is_list(L), true = N > 0, R.
'T'(K) -> receive K -> ok end, {K, 1}.
deep_wait(0) -> receive stop -> ok end;
deep_wait(N) -> {deep_wait(N - 1), N}.
dead() -> {P, R} = spawn_monitor(fun() -> ok end), receive {'DOWN', R, _, _, _} -> P end.

%% What is seen of a process once it waits in that function.
seen(P, F) ->
    case process_info(P, [status, current_function, backtrace]) of
        [{status, waiting}, {current_function, F}, {backtrace, B}] -> B;
        [{status, waiting}, {current_function, []}, {backtrace, B}] -> B;
        [{status, waiting}, {current_function, undefined}, {backtrace, B}] -> B;
        _ -> erlang:yield(), seen(P, F)
    end.

%% The frames of this module alone.
show(Name, Text) ->
    Lines = binary:split(Text, <<"\n">>, [global]),
    Ours = lists:takewhile(fun(L) -> binary:match(L, <<"init:">>) =:= nomatch end, Lines),
    io:format("~p~n", [Name]),
    [io:format("  ~ts~n", [plain(L)]) || L <- Ours].
plain(L) -> re:replace(re:replace(L, "0x[0-9a-f]+", "ADDRESS", [global]), " \\+ [0-9]+|<0[.0-9]*>", "", [global]).
