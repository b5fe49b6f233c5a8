%% setelement/3 without a call, comparing floats, and lists with another tail: right and wrong, where
%% the heap is full, as the last thing a function does, and watched.
-module(setelement_native).
-export([main/0, last/3, not_last/3]).

main() ->
    Tuples = [{}, {a}, {a, b}, {a, b, c}, {a, b, c, d}, list_to_tuple(lists:seq(1, 301)), [a], a,
              <<"abc">>, #{1 => a}, 1.0],
    Indexes = [0, 1, 2, 3, 4, 301, 302, -1, 1.0, one, 1 bsl 59, 1 bsl 64],
    [t:p([t:c(fun() -> ?MODULE:Name(I, T, x) end) || I <- Indexes, Name <- [last, not_last]])
     || T <- Tuples],
    t:p(t:st(fun() -> last(3, {a, b}, c) end)),
    t:p(t:st(fun() -> not_last(x, {a, b}, c) end)),
    t:p(full(5000, erlang:make_tuple(30, []), [])),
    Old = {a, b, c},
    New = setelement(t:id(2), Old, z),
    t:p({Old, New}),
    t:p(updated({r, 1, 2, 3, 4}, 1000)),
    watched(),
    floats(),
    appended().

last(I, T, V) -> setelement(I, T, V).
not_last(I, T, V) -> R = setelement(I, T, V), [R].

%% Every word of it lives until the end.
full(0, T, All) -> {T, length(All), erlang:phash2(All)};
full(N, T, All) -> full(N - 1, setelement(N rem 30 + 1, T, [N]), [T | All]).

updated(R, 0) -> R;
updated(R, N) ->
    A = setelement(5, setelement(3, R, N), {N}),
    updated(setelement(2, A, element(2, A) + N), N - 1).

watched() ->
    Self = self(),
    {Pid, Ref} = spawn_monitor(fun() -> receive go -> not_last(1, {t:id(a)}, b) end end),
    erlang:trace_pattern({erlang, setelement, 3}, true, []),
    1 = erlang:trace(Pid, true, [call]),
    Pid ! go,
    receive {'DOWN', Ref, process, Pid, _} -> ok end,
    erlang:trace_pattern({erlang, setelement, 3}, false, []),
    receive {trace, Pid, call, MFA} -> t:p({called, MFA}) after 1000 -> t:p(not_called) end,
    Self = self().

floats() ->
    Values = [0.0, -0.0, 1.0, -1.5, 1.0e308, -1.0e308, 5.0e-324, 1, 0, -2, 1 bsl 70, -(1 bsl 1030),
              a, {1.0}, [1.0], {1}],
    [t:p([X, Y], {X < Y, X > Y, X =< Y, X >= Y, X == Y, X /= Y, X =:= Y, tests(X, Y)})
     || X <- Values, Y <- Values].

tests(X, Y) when X < Y -> less;
tests(X, Y) when X =:= Y -> same;
tests(X, Y) when X == Y -> equal;
tests(X, Y) when X >= Y -> more.

appended() ->
    Lists = [[], [a], [a, b], lists:seq(1, 400), [a | b], [a, b | c], x, {}],
    [t:p(t:c(fun() -> A ++ B end)) || A <- Lists, B <- Lists],
    t:p(erlang:phash2(lists:foldl(fun(I, L) -> L ++ [I, I] end, [], lists:seq(1, 800)))),
    Long = lists:seq(1, 200000),
    t:p(erlang:phash2(Long ++ Long)),
    t:p(t:c(fun() -> length((Long ++ improper) ++ [x]) end)),
    t:p([lists:member(X, [a, 1, 1.0, "x", {1}, 1 bsl 70]) || X <- [a, b, 1, 1.0, 2.0, "x", {1}, {1.0}]]),
    Keys = [{a, 1}, {1, 2}, {2.0, 3}, {"k"}, x, {{1}, 4}],
    t:p([{lists:keyfind(X, 1, Keys), lists:keymember(X, 1, Keys), lists:keysearch(X, 1, Keys)}
         || X <- [a, b, 1, 1.0, 2, 2.0, "k", {1.0}, {1}, x]]),
    t:p([t:c(fun() -> binary:split(<<"ab,cd;ef, ,">>, P, [global]) end)
         || P <- [[<<",">>, <<";">>], [<<",">>, <<", ">>], [<<"b,">>, <<"b">>, <<"b,c">>],
                  [<<"x">>, <<"y">>], [<<>>, <<"x">>], [<<",">>, x], [<<"ab,cd;ef, ,">>, <<"ab">>],
                  [<<(16#61 + I)>> || I <- lists:seq(0, 20)]]]),
    t:p([binary:matches(<<"aaabaab">>, P) || P <- [[<<"a">>, <<"aab">>], [<<"aa">>, <<"b">>],
                                                 [<<"baa">>, <<"aab">>, <<"q">>]]]).
