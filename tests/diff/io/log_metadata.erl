%% Metadata of processes, of calls, macros' places, proxies and old error_logger calls.
-module(log_metadata).
-export([main/0]).
-export([log/2]).
main() -> logger:remove_handler(default), logger:set_primary_config(level, all), S = self(), ok = logger:add_handler(h, ?MODULE, #{config => S}), t:p(logger:get_process_metadata()), logger:set_process_metadata(#{a => 1, b => 2}), logger:update_process_metadata(#{b => 3}), logger:error("x", #{c => 4}), t:p(t:c(fun() -> logger:set_process_metadata(bad) end)), t:p(logger:get_process_metadata()), logger:unset_process_metadata(), logger:error(#{r => 1}), logger:error([{r, 2}]), logger:error("fmt ~p", [x]), logger:error(fun(X) -> {"lazy ~p", [X]} end, 5), error_logger:error_msg("old ~p", [1]), error_logger:warning_report([{a, b}]), error_logger:info_report(t, x), logger:set_primary_config(metadata, #{prim => 1}), logger:info("p"), timer:sleep(10), [t:p(X) || X <- t:flush()].
log(#{level := L, msg := M, meta := Me}, #{config := S}) -> S ! {L, case M of {report, R} -> {report, R}; _ -> M end, maps:without([time, gl, pid, file, line, mfa], Me)}.
