%% Records: defaults that are expressions, nesting, matching, updates of several
%% fields, wrong records, record_info and indexes.
-module(record_more).
-export([main/0]).
-record(point, {x = 0, y = 0}).
-record(shape, {name, at = #point{}, tags = [] :: list(), made = t:id(now)}).
-record(empty, {}).
-record(wide, {a, b, c, d, e, f, g, h, i, j, k = 11, l}).
main() ->
    S = #shape{name = n}, t:p(S), t:p(S#shape.at#point.x), t:p(S#shape{at = (S#shape.at)#point{y = 5}, tags = [t]}), t:p(#shape{_ = z}), t:p(#shape{name = a, _ = '_'}),
    t:p([record_info(size, point), record_info(fields, shape), #shape.tags, #point.x]), t:p(#empty{}), t:p(is_record(#empty{}, empty)), t:p([is_record(X, point) || X <- [#point{}, {point, 1}, {point, 1, 2}, {pt, 1, 2}, point, []]]),
    [t:p(t:st(F)) || F <- [fun() -> (t:id({no, 1}))#point.x end, fun() -> (t:id(a))#point{x = 1} end, fun() -> #point{x = X} = t:id({point, 1}), X end, fun() -> (t:id(#point{}))#shape.at end, fun() -> f(t:id(other)) end]],
    t:p([f(X) || X <- [#point{}, #point{x = 1, y = 1}, #shape{name = s, at = #point{x = 9}}, #empty{}]]), W = #wide{a = 1, d = 4, l = 12}, t:p(W#wide{b = 2, c = 3, e = W#wide.k}), t:p(lists:keysort(#point.y, [#point{x = 1, y = 3}, #point{x = 2, y = 1}])),
    t:p([P#point.x || P <- [#point{x = 1}, #point{x = 2}]]), t:p([Y || #point{x = 1, y = Y} <- [#point{x = 1, y = a}, #point{x = 2, y = b}, #point{x = 1, y = c}]]), t:p(lists:foldl(fun(K, R) -> R#point{x = R#point.x + K} end, #point{}, [1, 2, 3])),
    t:p(setelement(#point.y, #point{}, set)), t:p(element(#shape.name, S)), t:p(if S#shape.name =:= n, (S#shape.at)#point.x =:= 0 -> yes; true -> no end), t:p(case S of #shape{at = #point{x = 0} = P1} -> P1; _ -> no end),
    t:p(ets_match()), t:p(#point{x = #point{x = #point{}}}), t:p(erlang:phash2(#wide{})).
f(#point{x = X, y = X}) -> {same, X};
f(#shape{at = #point{x = X}, name = N}) -> {N, X};
f(#empty{}) -> empty.
ets_match() ->
    T = ets:new(x, [{keypos, #point.x}]), ets:insert(T, [#point{x = I, y = I rem 2} || I <- lists:seq(1, 6)]),
    R = lists:sort(ets:match_object(T, #point{y = 0, _ = '_'})), ets:delete(T), R.
