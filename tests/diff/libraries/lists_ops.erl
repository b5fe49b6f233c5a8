%% ++, --, hd, tl, length, improper lists, sharing.
-module(lists_ops).
-export([main/0]).
main() ->
    t:p([1, 2] ++ [3]), t:p([1] ++ t:id(a)), t:p([] ++ t:id(x)), t:p([] ++ []), t:p("abc" ++ [$d | "ef"]), t:p([1, 2, 3, 2, 1] -- [2, 1]), t:p([1, 2] -- []), t:p([] -- [1]), t:p([1.0, 1] -- [1]), t:p([1, 2, 3] -- [1, 2] -- [2]),
    t:p(lists:seq(1, 200) -- lists:seq(1, 400, 2)), t:p(length(lists:seq(1, 5000) -- lists:seq(2500, 9000))), t:p([a | t:id(b)]), t:p(hd([a | t:id(b)])), t:p(tl([a | t:id(b)])), t:p([[]]), t:p([[] | []]), [H | T] = t:id("xyz"), t:p({H, T}), [A, B | C] = t:id([1, 2]), t:p({A, B, C}),
    t:p(list_to_tuple(lists:seq(1, 50))), t:p(tuple_to_list({a, {b}, [c]})), t:p(length(t:id(lists:duplicate(100000, x)))), [t:pc(F) || F <- [fun() -> length(t:id([a | b])) end, fun() -> t:id([a | b]) ++ [c] end, fun() -> t:id([1 | 2]) -- [1] end, fun() -> [1] -- t:id([1 | 2]) end, fun() -> hd(t:id(x)) end, fun() -> tl(t:id([])) end, fun() -> list_to_tuple(t:id([a | b])) end]],
    "pre" ++ Rest = t:id("prefix"), t:p(Rest), t:p(case t:id("abc") of "ab" ++ X -> X; _ -> no end).
