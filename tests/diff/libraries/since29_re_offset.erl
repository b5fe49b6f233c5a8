%% since 29
%% re:run with an offset at and beyond the end of the subject.
-module(since29_re_offset).
-export([main/0]).
main() ->
    {ok, Utf} = re:compile("", [unicode]),
    {ok, Exported} = re:compile("b", [export]),
    Run = fun(S, P, O) -> t:p({S, O, try re:run(S, P, O) catch C:R -> {C, R} end}) end,
    [Run(S, P, [{offset, N} | Os]) || {S, P, Os} <- [{"abc", "b", []}, {"abc", "", [report_errors]}, {<<"abc">>, "", [global]}, {[], "", []}, {<<"é"/utf8>>, Utf, []}, {"abc", re:import(Exported), []}, {["ab", <<"c">>], "(c)", [{capture, all, list}]}, {"abc", "b", [{capture, none}]}],
     N <- [0, 1, 2, 3, 4, 1 bsl 31 - 1]],
    [t:p(try F() catch C:R -> {C, R} end) || F <- [fun() -> re:replace("abc", "", "x", [{offset, 3}, {return, list}]) end, fun() -> re:replace("abc", "", "x", [{offset, 4}, {return, list}]) end, fun() -> re:split("abc", "b", [{offset, 4}]) end]].
