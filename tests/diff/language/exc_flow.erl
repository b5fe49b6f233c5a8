%% The flow through try, catch, of, after: values, order of effects, exceptions in
%% each part, nested, in funs and comprehensions, catch as an expression.
-module(exc_flow).
-export([main/0]).
main() ->
    [t:p({A, B, C, D}, note(fun() -> full(A, B, C, D) end)) || A <- [ok, error, throw, exit], B <- [ok, throw], C <- [match, raise, none], D <- [ok, error]],
    t:p(catch throw(x)), t:p(catch exit(x)), t:p(element(1, catch error(x))), t:p([catch 1 + t:id(a) | [b]] =/= []), t:p(begin X = (catch 5), X + 1 end), t:p(catch (catch throw(inner))), t:p((catch throw(a)) =:= a), t:p({catch throw(1), catch throw(2)}), t:p(case catch t:id(ok) of ok -> fine; _ -> bad end),
    t:p(loop(5, [])), t:p(try [if N > 2 -> throw({at, N}); true -> N end || N <- [1, 2, 3, 4]] catch T -> T end), t:pc(fun() -> deep(10) end), t:p(reraise()), t:p(in_guard(t:id([]))), t:p(pattern(t:id({error, enoent}))), t:p(pattern(t:id({ok, 1}))), t:p(pattern(t:id(other))), t:p(nested_after()), t:p(try_in_fun()), t:p(exit_in_after()), t:p(throw_list(lists:seq(1, 20))), t:p(no_match()), t:p(many(0)), t:p(classes()), t:p(stack_kept()), t:p(var_after()), t:p(msg()).
note(F) -> put(log, []), R = t:c(F), {R, lists:reverse(get(log))}.
log(X) -> put(log, [X | get(log)]), X.
do(ok, W) -> log({W, ok});
do(error, W) -> log({W, error}), error({W, e});
do(throw, W) -> log({W, throw}), throw({W, t});
do(exit, W) -> log({W, exit}), exit({W, x}).
full(A, B, C, D) ->
    try do(A, body) of
        _ -> do(B, 'of')
    catch
        Class:R when C =:= match -> log({caught, Class}), {handled, R};
        _:_ when C =:= raise -> log(raising), error(from_catch)
    after
        do(D, 'after')
    end.
loop(0, A) -> A;
loop(N, A) -> loop(N - 1, [try case N rem 3 of 0 -> throw(t); 1 -> error(e); 2 -> N end catch throw:T -> {T, N}; error:E -> {E, N} after put(last, N) end | A]).
deep(0) -> throw(bottom);
deep(N) -> try deep(N - 1) catch throw:X when N rem 4 =:= 0 -> throw({N, X}); error:_ -> wrong after put(N, done) end.
reraise() -> try try error(first) catch C:R:S -> erlang:raise(C, {again, R}, S) end catch error:X:St -> {X, element(1, hd(St)), element(2, hd(St))} end.
in_guard(L) -> try hd(L) of X when X > 1 -> big; _ -> small catch error:badarg -> empty end.
pattern(V) -> try {ok, X} = V, X catch error:{badmatch, {error, E}} -> {err, E}; error:{badmatch, O} -> {odd, O} end.
nested_after() -> put(log, []), R = (catch try try throw(a) after log(inner) end after log(outer) end), {R, lists:reverse(get(log))}.
try_in_fun() -> F = fun(X) -> try 10 div X catch error:badarith -> infinity end end, [F(X) || X <- [1, 0, 5]].
exit_in_after() -> t:c(fun() -> try throw(lost) after exit(from_after) end end).
throw_list(L) -> try lists:foldl(fun(X, A) when A > 50 -> throw({stopped, X, A}); (X, A) -> A + X end, 0, L) catch throw:R -> R end.
no_match() -> t:c(fun() -> try t:id(3) of 1 -> one; 2 -> two catch error:_ -> caught end end).
many(N) when N > 1000 -> N;
many(N) -> try throw(N + 1) catch throw:M -> many(M) end.
classes() -> [try erlang:C(r) catch C2:R -> {C, C2, R} end || C <- [error, exit, throw]].
stack_kept() -> try (t:id(a)):b() catch error:undef:S -> [{M, F, As, _} | _] = S, {M, F, As, length(S) > 0} end.
var_after() -> X = try t:id(1) after _ = t:id(2) end, Y = try t:id(X) of Z -> Z + 1 catch _:_ -> 0 end, {X, Y}.
msg() -> self() ! hi, try receive hi -> throw(got) end catch throw:G -> G after receive late -> ok after 0 -> ok end end.
