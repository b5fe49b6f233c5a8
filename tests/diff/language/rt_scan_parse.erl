%% erl_scan and erl_parse: tokens, positions, errors; erl_pp back to text.
-module(rt_scan_parse).
-export([main/0]).
main() ->
    [t:p(S, erl_scan:string(S)) || S <- ["foo(X) -> 'a b' + 12.", "\"str\\n\\x{41}\" $a $\\n $\\s", "16#FF 2#101 1_000 1.5e-3 36#zz", "% comment\na.", "<<1:8/little>>", "'unterminated", "\"unterminated", "1.0e", "$", "a.b. c",
                                           "#{a=>1, b:=2}", "fun() -> ok end", "?MACRO", "=:= =/= == /= =< >= <- <= || -> :: ...", "é ñ 日本", "\\", "99#1", "1#0"]],
    t:p(erl_scan:string("a. % c\n b", {1, 1}, [return, text])), t:p(erl_scan:string("x y", 5, [return_white_spaces])),
    t:p(erl_scan:tokens([], "foo(", 1)), {more, C} = erl_scan:tokens([], "foo(", 1), t:p(erl_scan:tokens(C, "1). rest", 1)), t:p(erl_scan:tokens([], eof, 1)),
    [t:p(S, exprs(S)) || S <- ["a + b * c - d.", "f(X, Y).", "m:f(1).", "fun(X) -> X end.", "fun m:f/1.", "case X of 1 -> a; 2 when true -> b end.", "try a catch _:_ -> b after c end.", "<<X:8, Y/binary>>.",
                               "#r{a = 1}.", "X#r.a.", "#{a => 1}.", "[X || X <- L, X > 1].", "1 = .", "a b.", "f(.", "-1 + +2.", "a = b = c.", "not a and b or c xor d.", "a ! b ! c.", "x orelse y andalso z.", "catch a.", "begin a, b end.", "receive a -> b after 1 -> c end."]],
    [t:p(S, form(S)) || S <- ["-module(m).", "-record(r, {a, b = 1 :: integer()}).", "f(1) -> a; f(X) when X > 1, X < 5; X == 9 -> b.", "-spec f(X :: integer()) -> list(X) when X :: atom().", "-type t() :: a | {b, [c]} | fun((x) -> y).", "-export([a/1]).", "f() -> .", "-foo(bar).", "-callback c(any()) -> ok."]],
    [t:p(term(S)) || S <- ["{a, [1, 2 | b], \"s\", <<1, 2>>, #{x => 1}}.", "1 + 1.", "foo(1).", "-3.", "X.", "[a|b].", "'A'.", "$a.", "\"a\" \"b\"."]],
    [t:p(lists:flatten(erl_pp:exprs(element(2, exprs(S))))) || S <- ["case f(X) of {ok, Y} when Y > 1 -> [Y | Z]; _ -> #{a => b} end.", "fun F(0) -> 1; F(N) -> N * F(N - 1) end.", "try a:b() of c -> d catch e:f:G -> h after i end.", "<<A:8/little-signed, \"x\", B/bits>>.", "[{X, Y} || X <- A, Y <- B, X =/= Y].", "-(1 + 2) * 3 - (4 - 5).", "if A -> b; true -> c end."]],
    [t:p(lists:flatten(erl_pp:form(element(2, form(S))))) || S <- ["f(1) -> a; f(X) when X > 1 -> b, c.", "-spec f(integer()) -> a | b.", "-record(r, {a, b = 1}).", "-type t(X) :: #{X => [t(X)]}."]],
    t:p(erl_parse:abstract({a, [1, "xy"], <<1>>, #{b => 2.5}})), t:p(erl_parse:normalise({tuple, 1, [{atom, 1, x}, {nil, 1}]})),
    t:p(erl_parse:map_anno(fun(_) -> 0 end, element(2, form("f(X) -> X.")))).

exprs(S) -> {ok, Ts, _} = erl_scan:string(S), flat(erl_parse:parse_exprs(Ts)).
form(S) -> {ok, Ts, _} = erl_scan:string(S), flat(erl_parse:parse_form(Ts)).
term(S) -> {ok, Ts, _} = erl_scan:string(S), flat(erl_parse:parse_term(Ts)).
flat({error, {L, M, E}}) -> {error, L, lists:flatten(M:format_error(E))};
flat(X) -> X.
