%% logger: events with metadata, levels, filters, handlers of one's own, the standard
%% formatter's text, reports and their callbacks, error_logger's old calls.
-module(logger_texts).
-export([main/0, log/2, filter/2, report_cb/1]).
main() ->
    ok = logger:set_primary_config(level, debug), ok = logger:add_handler(mine, ?MODULE, #{level => debug, config => #{to => self()}, filters => [{no_progress, {fun logger_filters:progress/2, stop}}]}), logger:remove_handler(default),
    logger:error("plain ~p", [1]), got(), logger:warning(#{a => 1, what => "report"}), got(), logger:info([{k, v}, {l, [1, 2]}]), got(), logger:debug("string", #{extra => meta}), got(), logger:notice(fun(X) -> {"lazy ~p", [X]} end, arg), got(), logger:log(critical, "crit ~s", ["é"], #{domain => [my, app], mfa => {m, f, 1}, line => 7, file => "f.erl"}), got(),
    logger:set_process_metadata(#{req => 42}), logger:alert("with meta"), got(), logger:update_process_metadata(#{more => x}), logger:emergency("again"), got(), t:p(logger:get_process_metadata()), logger:unset_process_metadata(),
    ok = logger:set_primary_config(level, warning), logger:info("not seen"), none(), logger:set_module_level(?MODULE, info), logger:allow(info, ?MODULE), t:p([logger:allow(L, ?MODULE) || L <- [debug, info, error]]), t:p(logger:get_module_level(?MODULE)), logger:unset_module_level(?MODULE), t:p(logger:compare_levels(error, debug)),
    ok = logger:set_primary_config(level, all), ok = logger:add_primary_filter(f, {fun ?MODULE:filter/2, secret}), logger:error("secret ~p", [x]), none(), logger:error("open"), got(), logger:remove_primary_filter(f), error_logger:error_msg("old ~p~n", [style]), got(), error_logger:info_report([{x, 1}]), got(), error_logger:warning_report(my_type, {t, 2}), got(),
    logger:error(#{label => l, report => r}, #{report_cb => fun ?MODULE:report_cb/1}), got(), t:p(logger:add_handler(mine, ?MODULE, #{})), t:p(logger:add_handler(x, no_such_mod, #{})), t:p(logger:remove_handler(nope)), t:p(logger:set_handler_config(mine, level, bogus)), {ok, C} = logger:get_handler_config(mine), t:p(maps:get(level, C)), t:p(logger:get_handler_ids()),
    E = #{level => error, msg => {"text ~p\nmore", [1]}, meta => #{time => 0, pid => self(), gl => self(), mfa => {m, f, 2}, line => 3, domain => [a, b]}}, [t:p(unicode:characters_to_binary(logger_formatter:format(E, F))) || F <- [#{template => [level, " ", msg, "\n"]}, #{single_line => true, template => [mfa, ":", line, " ", msg]}, #{template => [{domain, [domain], ["none"]}, {nokey, ["yes"], ["no"]}, msg], single_line => false}, #{max_size => 20, template => [msg]}, #{depth => 3, template => [msg]}, #{legacy_header => true, time_offset => "Z", template => [[logger_formatter, header], "\n", msg]}, #{chars_limit => 5, template => [msg]}, #{time_offset => "Z", time_designator => $T, template => [time, " ", level]}]],
    [t:p(unicode:characters_to_binary(logger_formatter:format(E#{msg := M}, #{template => [msg], single_line => S}))) || M <- [{report, #{a => 1, b => [2, 3]}}, {report, [{k, v}]}, {string, "s\n  t"}, {"~tp ~ts", [{a}, "ü"]}, {"bad ~p ~p", [1]}], S <- [true, false]].
log(#{level := L, msg := M, meta := Meta}, #{config := #{to := To}}) -> To ! {logged, L, M, maps:without([time, pid, gl, file, line, mfa], Meta), maps:with([line], Meta) =/= #{}}.
got() -> receive {logged, L, M, Meta, _} -> t:p({L, M, Meta}) after 500 -> t:p(nothing) end.
none() -> receive {logged, L, M, _, _} -> t:p({unexpected, L, M}) after 20 -> t:p(silent) end.
filter(#{msg := {"secret" ++ _, _}}, _) -> stop;
filter(_, _) -> ignore.
report_cb(#{report := R}) -> {"reported ~p", [R]}.
