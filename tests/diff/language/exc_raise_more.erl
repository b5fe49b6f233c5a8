%% erlang:raise/3 with good and bad stacks, error/2,3 with arguments and error_info,
%% formatting by a module of one's own, exceptions of spawned processes.
-module(exc_raise_more).
-export([main/0, format_error/2, other_format/2]).
main() ->
    Ok = [{m, f, 1, []}, {m, g, [a, b], [{file, "x.erl"}, {line, 7}]}, {fun() -> ok end, [], []}],
    [t:p({C, length(S)}, raise(C, r, S)) || C <- [error, exit, throw], S <- [[], Ok, [{m, f, 0, []}]]],
    [t:p(t:c(fun() -> erlang:raise(C, r, S) end)) || {C, S} <- [{bad, []}, {error, x}, {error, [x]}, {error, [{m, f}]}, {error, [{m, f, -1, []}]}, {error, [{m, f, a, []}]}, {error, [{1, f, 1, []}]}, {error, [{m, f, 1, x}]}, {error, [{m, f, 1} | y]}, {1, []}]],
    t:p(t:st(fun() -> error(with_args, [1, two]) end)), t:p(t:st(fun() -> error(none, none) end)), t:p(t:st(fun() -> bad_args(1) end)), t:p(t:c(fun() -> error(x, [a | b]) end)),
    [show(fun() -> F(t:id(1), two) end) || F <- [fun info1/2, fun info2/2, fun info3/2, fun info4/2, fun info5/2]], [t:p(t:c(fun() -> error(r, [], O) end)) || O <- [[bad], x, [{error_info, 1}], [{error_info, #{}}], [{error_info, #{cause => c}}, {error_info, #{}}]]],
    [t:p(R, exit_of(F)) || {R, F} <- [{error, fun() -> error(e) end}, {exit, fun() -> exit(x) end}, {throw, fun() -> throw(t) end}, {raise, fun() -> erlang:raise(error, r, []) end}, {raise_exit, fun() -> erlang:raise(exit, r, Ok) end}, {nested, fun() -> try error(a) catch _:_ -> throw(b) end end}, {normal, fun() -> exit(normal) end}]],
    t:p(depth()), t:p([erl_error:format_exception(error, R, []) || R <- [badarg, badarith, {badmatch, [1, 2]}, function_clause, {case_clause, x}, if_clause, {try_clause, 1}, undef, {badfun, 1}, {badarity, {fun() -> 1 end, [1]}} , noproc, {nocatch, t}, {badkey, k}, {badmap, m}, {badrecord, r}, system_limit, timeout_value, {my, own}, "string"], R =/= {badarity, x}, not is_tuple(R) orelse element(1, R) =/= badarity]),
    t:p([lists:flatten(erl_error:format_exception(C, R, [{m, f, 2, [{file, "m.erl"}, {line, 3}]}, {m, '-f/2-fun-0-', 1, []}, {erl_eval, do_apply, 6, []}])) || {C, R} <- [{error, undef}, {exit, bye}, {throw, ball}]]).
raise(C, R, S) -> try erlang:raise(C, R, S) catch C1:R1:S1 -> {C1, R1, t:plain(S1)} end.
bad_args(X) when X > 1 -> X.
info1(A, B) -> error(badarg, [A, B], [{error_info, #{}}]).
info2(A, B) -> error(badarg, [A, B], [{error_info, #{cause => why, function => other_format}}]).
info3(A, B) -> error({custom, A}, [A, B], [{error_info, #{module => ?MODULE, cause => {c, 3}}}]).
info4(_, _) -> error(badarg, none, [{error_info, #{module => no_such_module}}]).
info5(A, B) -> error(badarg, [A, B], [{error_info, #{function => crash}}]).
format_error(_, [{_, _, As, Info} | _]) -> Cause = maps:get(cause, proplists:get_value(error_info, Info, #{}), none), #{1 => <<"first is wrong">>, 2 => io_lib:format("second with ~p", [Cause]), general => "in general", reason => io_lib:format("because ~w", [length(As)])}.
other_format(R, _) -> #{general => io_lib:format("other: ~p", [R])}.
show(F) -> try F() catch C:R:S -> [{M, Fn, A, I} | _] = S, io:format("~ts~n", [erl_error:format_exception(C, R, [{M, Fn, A, [X || X = {error_info, _} <- I]}])]) end.
exit_of(F) -> {P, R} = spawn_monitor(F), receive {'DOWN', R, process, P, W} -> case W of {X, [{M, Fn, _, _} | _]} -> {X, M, Fn =/= x}; _ -> W end end.
depth() -> O = erlang:system_flag(backtrace_depth, 3), R = try rec(10) catch _:_:S -> length(S) end, erlang:system_flag(backtrace_depth, 0), R0 = try rec(10) catch _:_:S0 -> length(S0) end, erlang:system_flag(backtrace_depth, O), {O, R, R0}.
rec(0) -> error(x); rec(N) -> case N rem 2 of 0 -> [rec(N - 1)]; _ -> {rec2(N - 1)} end.
rec2(0) -> error(y); rec2(N) -> [rec(N - 1) | x].
