%% Records: defaults, updates, nesting, guards, matching, fields' numbers, wildcard.
-module(lang_records_more).
-export([main/0]).
-record(r, {a = 1, b = "def", c}).
-record(s, {x}).
-record(d, {t = 0 + 0, l = [#s{x = y}]}).
main() ->
    R = #r{},
    t:p(R),
    t:p(R#r{a = 5, c = #s{x = [1]}}),
    t:p((R#r{c = #s{x = 7}})#r.c#s.x),
    t:p([#r.a, #r.b, #r.c, #s.x]),
    t:p(record_info(fields, r)),
    t:p(record_info(size, r)),
    t:p(#r{_ = z}),
    t:p(#r{b = 1, _ = q}),
    t:p([f(X) || X <- [R, #r{a = 2}, #s{}, {r, 1}, {r, 1, 2, 3}, x]]),
    t:p([is_record(X, r) || X <- [R, {r}, {r, 1, 2, 3}, a]]),
    t:p(t:c(fun() -> (t:id({s, 1}))#r.a end)),
    t:p(t:c(fun() -> (t:id({s, 1}))#r{a = 1} end)), #r{a = A, b = B} = R,
    t:p({A, B}),
    t:p(lists:keysort(#r.b, [#r{b = 3}, #r{b = 1}])),
    t:p([X#s.x || #s{} = X <- [#s{x = 1}, R, #s{x = 2}]]),
    t:p(R =:= {r, 1, "def", undefined}),
    t:p(setelement(#r.b, R, new)),
    t:p(ets:match_spec_run([#s{x = 3}], ets:match_spec_compile([{#s{x = '$1', _ = '_'}, [], ['$1']}]))), F = fun(#r{a = N} = Z) when Z#r.b =:= "def" -> N; (_) -> no end,
    t:p([F(R), F(#r{b = x}), F(1)]),
    t:p(#d{}),
    t:p((#d{})#d.t =< erlang:monotonic_time()).
f(#r{a = 1}) -> one; f(#r{}) -> r; f(X) when is_record(X, s) -> s; f(_) -> none.
