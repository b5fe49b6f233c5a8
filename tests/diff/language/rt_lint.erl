%% erl_lint on forms: what it warns of and what it refuses.
-module(rt_lint).
-export([main/0]).
main() ->
    [t:p(S, lint(S)) || S <- [
        "f(X) -> ok.", "f() -> Y.", "f() -> case a of b -> X = 1; c -> ok end, X.", "f() -> g().", "-export([g/1]). f() -> 1.", "f() -> 1. f() -> 2.", "-record(r, {a, a}). f() -> #r{b = 1}.",
        "f() -> fun g/0.", "f(A) -> fun(A) -> A end.", "f(A) -> [A || A <- [1]].", "-import(lists, [map/2]). map(_, _) -> 1.", "f() -> self(1).", "f() -> atom_to_list(1).", "f() -> erlang:now().",
        "f(X) when is_foo(X) -> 1.", "f(X) when X =:= f() -> 1.", "-type t() :: u(). f() -> 1.", "-spec g() -> ok. f() -> 1.", "-spec f() -> ok. f(X) -> X.", "-opaque o() :: 1. f() -> 1.", "-type t(X) :: X. -type t(Y) :: Y. f() -> 1.",
        "f() -> <<1:99999999999/foo>>.", "f() -> <<X/integer>>.", "f() -> #{a := 1}.", "f(#{X := Y}) -> Y.", "f(#{x => 1}) -> 1.", "-on_load(h/0). f() -> 1.", "-behaviour(gen_server). f() -> 1.", "-behaviour(nope). f() -> 1.",
        "f() -> try 1 catch _:_:S when S =:= [] -> 1 end.", "f() -> (catch X = 1), X.", "f() -> if true -> A = 1; false -> A = 2 end, A.", "f() -> X = 1, X = 2, _X = 3, _X.", "f() -> 1 = 1, a, 'b', ok.",
        "-compile({nowarn_unused_function, [g/0]}). f() -> 1. g() -> 1.", "-deprecated([f/0]). f() -> 1.", "-compile(inline). -compile({inline, [q/9]}). f() -> 1.", "f() -> lists:append(1).", "f() -> receive X -> X end, X.",
        "f() -> \"~p\", io:format(\"~p ~p\", [1]).", "f() -> io:format(\"~z\", []).", "f() -> io:format(\"ok\", [1]).", "-export([f/0, f/0]). f() -> 1.", "-dialyzer({nowarn_function, [z/0]}). f() -> 1."]].

lint(S) ->
    {ok, Ts, _} = erl_scan:string("-module(m). -export([f/0, f/1]). " ++ S),
    Forms = [{attribute, 1, file, {"m.erl", 1}} | parse(Ts, [])],
    case erl_lint:module(Forms, "m.erl", [warn_format, warn_unused_vars, warn_shadow_vars, warn_export_vars]) of
        {ok, Ws} -> {ok, show(Ws)};
        {error, Es, Ws} -> {error, show(Es), show(Ws)}
    end.
show(L) -> [{At, lists:flatten(M:format_error(E))} || {_, Xs} <- L, {At, M, E} <- Xs].
parse([], []) -> [];
parse([T = {dot, _} | Ts], Acc) -> {ok, F} = erl_parse:parse_form(lists:reverse([T | Acc])), [F | parse(Ts, [])];
parse([T | Ts], Acc) -> parse(Ts, [T | Acc]).
