%% since 27
%% update_record: copies, the same value again, several fields, large records, collections between.
-module(since27_update_record).
-export([main/0]).

-record(r, {a, b, c}).
-record(one, {x}).
-record(big, {f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14, f15, f16, f17, f18, f19,
              f20, f21, f22, f23, f24, f25, f26, f27, f28, f29, f30, f31, f32, f33, f34, f35, f36}).

main() ->
    R = t:id(#r{a = 1, b = two, c = [3]}),
    t:p([R#r{a = 2}, R#r{a = 1}, R#r{a = 1, c = 4}, R#r{b = R}, R#r{a = x, b = y, c = z}, R]),
    t:p([t:pc(fun() -> (t:id(X))#r{b = 1} end) || X <- [{r, 1}, {r, 1, 2, 3, 4}, {s, 1, 2, 3}, [], 1]]),
    t:p([(t:id(#one{}))#one{x = X} || X <- [undefined, 1, "a"]]),
    t:p([set(N, t:id(#big{f1 = first, f36 = last})) || N <- lists:seq(1, 6)]),
    t:p(count(t:id(#r{a = 0, b = 0, c = []}), 5000)),
    t:p(keep(t:id(#r{a = 0, b = 0, c = []}), 300, [])),
    t:p(same(t:id(#r{a = "x", b = 1.5, c = 1 bsl 80}))).

set(1, B) -> B#big{f1 = a};
set(2, B) -> B#big{f36 = z};
set(3, B) -> B#big{f18 = m, f19 = n};
set(4, B) -> B#big{f1 = a, f20 = t, f36 = z};
set(5, B) -> B#big{f2 = B#big.f1, f35 = B#big.f36};
set(6, B) -> (B#big{f3 = 3})#big{f4 = 4}.

%% The old record is dead: OTP may change it in place.
count(R, 0) ->
    R#r{c = length(R#r.c)};
count(#r{a = A, c = C} = R, N) ->
    count(R#r{a = A + N, b = N rem 7, c = [N | lists:sublist(C, 20)]}, N - 1).

%% The old ones live on and must not change.
keep(R, 0, Acc) ->
    erlang:phash2({R, Acc});
keep(#r{a = A} = R, N, Acc) ->
    New = R#r{a = A + 1, b = list_to_tuple(lists:seq(1, N rem 5))},
    keep(New, N - 1, [R | Acc]).

same(#r{a = A, b = B, c = C} = R) ->
    [R#r{a = A} =:= R, R#r{b = B} =:= R, R#r{c = C} =:= R, R#r{b = 1.5}, R#r{c = C + 1}].
