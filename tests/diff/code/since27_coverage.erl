%% since 27
%% Code coverage by the machine: each mode, what is reported of functions and lines, counters of
%% several processes, resetting, modules without executable lines, wrong arguments.
-module(since27_coverage).
-export([main/0]).

main() ->
    t:p([code:coverage_support(), code:get_coverage_mode()]),
    [mode(M, O) || M <- [none, function, function_counters, line, line_counters], O <- [[line_coverage], []]],
    t:p(code:set_coverage_mode(none)),
    forced(),
    several(),
    wrong().

text() ->
    ["-module(covered).\n"
     "-export([f/1, g/1, h/1, unused/0, throws/1]).\n"
     "f(0) -> zero;\n"
     "f(N) when N > 5 -> large;\n"
     "f(N) ->\n"
     "    X = N * 2,\n"
     "    case X of\n"
     "        2 -> two;\n"
     "        _ -> other(X)\n"
     "    end.\n"
     "other(X) -> {X}.\n"
     "g(L) -> [begin Y = X + 1, Y * Y end || X <- L, X > 1].\n"
     "h(F) -> fun(A) ->\n"
     "            F(A)\n"
     "        end.\n"
     "unused() ->\n"
     "    a,\n"
     "    b.\n"
     "throws(X) ->\n"
     "    try X:undefined_function() of\n"
     "        V -> V\n"
     "    catch\n"
     "        error:undef -> undef;\n"
     "        _:_ -> other\n"
     "    end.\n"].

compiled(Options) ->
    {ok, covered, Code} = compile:forms(forms(lists:flatten(text()), 1), Options),
    code:purge(covered),
    {module, covered} = code:load_binary(covered, "covered.erl", Code),
    ok.

forms(Text, Line) ->
    case erl_scan:tokens([], Text, Line) of
        {done, {ok, Tokens, Next}, Rest} ->
            {ok, Form} = erl_parse:parse_form(Tokens),
            [Form | forms(Rest, Next)];
        _ -> []
    end.

run() ->
    R = [[covered:f(N) || N <- [0, 1, 1, 2, 9]], covered:g([1, 2, 3]), (covered:h(fun(A) -> A end))(1),
         covered:throws(nomodule)],
    t:p(R).

report() ->
    [t:p(W, t:c(fun() -> code:get_coverage(W, covered) end)) || W <- [function, line, cover_id_line]].

mode(M, Options) ->
    t:p({M, Options, code:set_coverage_mode(M)}),
    compiled(Options),
    t:p(code:get_coverage_mode(covered)),
    report(),
    run(),
    report(),
    run(),
    report(),
    t:p(t:c(fun() -> code:reset_coverage(covered) end)),
    report().

%% What `cover` compiles counts in any mode.
forced() ->
    compiled([line_coverage, force_line_counters]),
    t:p(code:get_coverage_mode(covered)),
    run(),
    report(),
    t:p(code:get_coverage_mode(?MODULE)).

several() ->
    code:set_coverage_mode(line_counters),
    compiled([line_coverage]),
    Ps = [spawn_monitor(fun() -> [covered:f(1) || _ <- lists:seq(1, 20000)] end) || _ <- lists:seq(1, 4)],
    [receive {'DOWN', M, _, P, _} -> ok end || {P, M} <- Ps],
    report(),
    code:set_coverage_mode(function_counters),
    compiled([]),
    [covered:f(1) || _ <- lists:seq(1, 30000)],
    report(),
    code:set_coverage_mode(none),
    t:p(code:get_coverage_mode(covered)),
    compiled([]),
    t:p(code:get_coverage_mode(covered)).

wrong() ->
    [t:p(t:st(fun() -> code:set_coverage_mode(M) end)) || M <- [x, 1, "none"]],
    [t:p(t:st(fun() -> code:get_coverage(W, M) end)) || W <- [x, line, 1], M <- [nomodule, covered, 1]],
    [t:p(t:st(fun() -> code:F(M) end)) || F <- [get_coverage_mode, reset_coverage], M <- [nomodule, 1]].
