%% try, of, catch and after in each other; order of effects; rethrowing.
-module(exc_nesting).
-export([main/0]).
main() ->
    t:p(a(ok)), t:p(a(throw)), t:p(a(exit)), t:p(t:c(fun() -> a(error) end)), t:p(b()), t:p(t:c(fun() -> c() end)), t:p(d()), t:p(e(5)), t:p(t:c(fun() -> g() end)), t:p(h()), t:p(i()), t:p(j(3)), t:p(k()).
a(K) ->
    try r(K) of V -> io:format("of~n"), {of_, V}
    catch throw:X -> io:format("throw~n"), {caught, X}; exit:X -> {exit, X}
    after io:format("after ~p~n", [K]) end.
r(ok) -> ok; r(throw) -> throw(t); r(exit) -> exit(x); r(error) -> error(err).
b() -> try try throw(inner) after io:format("inner after~n") end catch throw:X -> {outer, X} end.
c() -> try throw(first) catch throw:first -> throw(second) after io:format("after c~n") end.
d() -> try ok of ok -> try throw(x) catch x -> in_of end catch _ -> wrong end.
e(N) -> try case N of 5 -> throw({n, N}) end catch {n, M} when M > 10 -> big; {n, M} when M < 10 -> {small, M} end.
g() -> try error(one) catch error:one -> try error(two) catch error:two -> error(three) end end.
h() -> X = try 1 after put(x, 1) end, {X, get(x)}.
i() -> (catch throw(a)) =:= a andalso element(1, (catch error(b))).
j(0) -> throw(bottom);
j(N) -> try j(N - 1) catch throw:bottom when N > 3 -> too_high; throw:bottom when N =:= 2 -> {caught_at, N} end.
k() -> [try F() catch C:R -> {C, R} after io:format(".~n") end || F <- [fun() -> 1 end, fun() -> throw(a) end, fun() -> exit(b) end]].
