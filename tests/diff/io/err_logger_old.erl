%% error_logger: reports and messages of each kind to a handler, formats, limits, tty off.
-module(err_logger_old).
-export([main/0]).
-export([init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).
main() ->
    logger:remove_handler(default),
    t:p(error_logger:add_report_handler(?MODULE, self())), [begin apply(error_logger, F, A),
    t:p({F, A}, l()) end || {F, A} <- [{error_msg, ["plain"]}, {error_msg, ["fmt ~p", [x]]}, {error_report, [[{a, 1}, b]]}, {error_report, [my_type, "string"]}, {warning_msg, ["w ~s", ["s"]]}, {warning_report, [[{w, 1}]]}, {warning_report, [wt, x]}, {info_msg, ["i"]}, {info_report, [{any, term}]}, {info_report, [it, [1, 2]]}, {error_msg, ["bad ~q", [x]]}, {error_msg, ["~p ~p", [1]]}]], logger:error("via logger ~p", [1]),
    t:p(l()), logger:error(#{map => report}),
    t:p(l()), logger:notice([{key, list}]),
    t:p(l()),
    t:p(error_logger:which_report_handlers()),
    t:p(error_logger:warning_map()),
    t:p(error_logger:get_format_depth()),
    t:p(error_logger:limit_term({deep, [1, 2, 3]})),
    t:p(error_logger:tty(false)),
    t:p(error_logger:logfile(filename)),
    t:p(t:plain(error_logger:delete_report_handler(?MODULE))),
    t:p(error_logger:delete_report_handler(?MODULE)), error_logger:error_msg("nobody"),
    t:p(l()).
l() -> receive {ev, E} -> [E | l()] after 15 -> [] end.
init(P) -> {ok, P}.
handle_event({K, GL, {P, A, B}}, T) -> T ! {ev, {K, is_pid(GL), is_pid(P) orelse P, A, t:plain(B)}}, {ok, T}; handle_event(E, T) -> T ! {ev, {other, E}}, {ok, T}.
handle_call(_, T) -> {ok, ok, T}.
handle_info(_, T) -> {ok, T}.
terminate(R, _) -> R.
