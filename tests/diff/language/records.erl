%% Records: defaults, access, update, matching, errors, as tuples.
-module(records).
-export([main/0]).
-record(p, {name, age = 0, tags = [] :: list()}).
-record(q, {p = #p{name = in}, n = 1 + 1}).
main() ->
    P = #p{name = "joe"},
    t:p(P), t:p(P#p.age), t:p(P#p{age = 5, tags = [x]}), t:p(#p.tags), t:p(record_info(fields, p)), t:p(record_info(size, q)),
    t:p(#q{}), Q = #q{}, t:p((Q#q.p)#p.name), t:p(Q#q{p = (Q#q.p)#p{age = 9}}),
    t:p(#p{_ = all}), #p{name = N, _ = _} = P, t:p(N),
    t:p([is_record(X, p) || X <- [P, Q, {p, 1, 2, 3}, {p}, a]]),
    t:p([m(X) || X <- [P, P#p{age = 3}, Q, {p, a}]]),
    t:pc(fun() -> (t:id({x}))#p.name end), t:pc(fun() -> (t:id(Q))#p{age = 1} end),
    t:p(setelement(#p.age, P, 44)), t:p(lists:keysort(#p.age, [#p{age = 3}, #p{age = 1}])), t:p(is_record(t:id(P), t:id(p), 4)).
m(#p{age = A}) when A > 0 -> {old, A}; m(#p{}) -> p; m(R) when is_record(R, q) -> q; m(_) -> none.
