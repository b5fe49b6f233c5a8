%% What is logged when processes of every kind crash.
-module(log_crash_texts).
-export([main/0]).
-export([log/2, init/1, handle_call/3, handle_cast/2, callback_mode/0, handle_event/4]).
main() -> process_flag(trap_exit, true), logger:remove_handler(default), logger:set_primary_config(level, all), S = self(), ok = logger:add_handler(h, ?MODULE, #{config => S}), spawn(fun() -> error(plain) end), show(), spawn(fun() -> exit(quiet) end), show(), spawn(fun() -> throw(ball) end), show(), proc_lib:spawn(fun() -> put(k, v), error(pl) end), show(), {ok, G} = gen_server:start(?MODULE, gs, []), catch gen_server:call(G, boom), show(), {ok, G2} = gen_server:start(?MODULE, gs, []), gen_server:cast(G2, boom), show(), {ok, T} = gen_statem:start(?MODULE, st, []), gen_statem:cast(T, boom), show(), spawn(?MODULE, nope, []), show(), spawn(nope, nope, [1]), show().
log(E, #{config := S}) -> S ! {log, E}.
show() -> timer:sleep(60), [begin Tx = unicode:characters_to_list(logger_formatter:format(E, #{template => [msg, "\n"], legacy_header => false})), io:format("~p ~ts", [L, re:replace(Tx, "<[0-9.]+>|#Ref[^>]*>|#Fun[^>]*>|lib/t.erl|heap_size: [0-9]+|stack_size: [0-9]+|reductions: [0-9]+|line,[0-9]+|[a-z_]+.erl:[0-9]+|erl\",line", "#", [global, unicode, {return, list}])]) end || {log, #{level := L} = E} <- t:flush()].
init(st) -> {ok, s, d}; init(X) -> {ok, X}. handle_call(boom, _, _) -> error(boom). handle_cast(boom, S) -> {bad, S}. callback_mode() -> handle_event_function. handle_event(cast, boom, _, _) -> error(kaboom).
