%% erl_ddll: giving drivers up while ports use them, calling that off, loading them anew, and who is told.
-module(linked_reload).
-export([main/0]).

-define(D, "linked_bytes").

main() ->
    process_flag(trap_exit, true),
    Source = filename:join(os:getenv("here"), "linked_driver.c"),
    "" = os:cmd(lists:flatten(["cc -Wall -shared -fPIC -o ", ?D, ".so ", Source])),
    t:p(format, [t:c(fun() -> erl_ddll:format_error(E) end)
                 || E <- [not_loaded, linked_in_driver, inconsistent, permanent, pending_reload, no_driver_init,
                          load_cancelled, nonsense]]),
    t:pc(none, fun() -> erl_ddll:monitor(driver, {1, loaded}) end),
    monitors(absent),
    show(load, erl_ddll:try_load(".", ?D, [])),
    show(again, erl_ddll:try_load("./", linked_bytes, [{monitor, pending}])),
    show(inconsistent, erl_ddll:try_load(".", ?D, [{driver_options, [kill_ports]}])),
    [show(bad, catch erl_ddll:try_load(".", ?D, [O])) || O <- [kill_ports, {monitor, x}, {reload, 1}, {a, b}]],
    [show(bad, catch erl_ddll:try_unload(?D, [O])) || O <- [x, {reload, pending}, {driver_options, []}]],
    monitors(loaded),
    show(reload, erl_ddll:try_load(".", ?D, [{reload, pending_driver}])),
    info(),
    show(unload, erl_ddll:try_unload(?D, [{monitor, pending_driver}])),
    P = open_port({spawn, ?D}, []),
    show(unload, erl_ddll:try_unload(?D, [{monitor, pending}])),
    monitors(unloading),
    show(cancelled, erl_ddll:try_load(".", ?D, [])),
    told(),
    show(reload, erl_ddll:try_load(".", ?D, [{reload, pending_driver}, {monitor, pending_driver}])),
    show(reload, erl_ddll:try_load(".", ?D, [{reload, pending_driver}])),
    show(load, erl_ddll:try_load(".", ?D, [])),
    monitors(reloading),
    info(),
    port_close(P),
    told(), told(), told(), told(),
    info(),
    Q = open_port({spawn, ?D}, []),
    receive {'EXIT', P, Why} -> t:p(exit, Why) after 1000 -> t:p(no_exit) end,
    show(unload, erl_ddll:try_unload(?D, [])),
    show(unload, erl_ddll:try_unload(?D, [kill_ports, {monitor, pending_driver}])),
    receive {'EXIT', Q, End} -> t:p(exit, End) after 1000 -> t:p(no_exit) end,
    told(),
    show(not_loaded, erl_ddll:try_unload(?D, [])),
    show(not_loaded, erl_ddll:try_load(".", ?D, [{reload, pending}])),
    owner_ends().

%% With its last user a driver goes, and the ports of one that says so.
owner_ends() ->
    Me = self(),
    {O, M} = spawn_monitor(fun() ->
                                   Me ! erl_ddll:try_load(".", ?D, [{driver_options, [kill_ports]}]),
                                   receive stop -> ok end
                           end),
    receive {ok, _} = Loaded -> show(other, Loaded) end,
    show(not_mine, erl_ddll:try_unload(?D, [])),
    P = open_port({spawn, ?D}, []),
    erl_ddll:monitor(driver, {?D, unloaded}),
    O ! stop,
    receive {'DOWN', M, process, _, _} -> ok end,
    receive {'EXIT', P, Why} -> t:p(exit, Why) after 1000 -> t:p(no_exit) end,
    told().

monitors(When) ->
    R = [erl_ddll:monitor(driver, {linked_bytes, W}) || W <- [loaded, unloaded, unloaded_only]],
    t:p(When, [receive {T, X, driver, D, What} -> {T, D, What} after 50 -> nothing end || X <- R]),
    [true = erl_ddll:demonitor(X) || X <- R, When =/= reloading].

info() ->
    t:p(info, [{I, t:c(fun() -> erl_ddll:info(?D, I) end)}
               || I <- [processes, driver_options, port_count, linked_in_driver, permanent, awaiting_load,
                        awaiting_unload]]).

told() ->
    receive {T, _, driver, D, What} -> t:p(told, {T, D, What}) after 1000 -> t:p(nothing) end.

show(What, {'EXIT', {Reason, _}}) -> t:p(What, {raises, Reason});
show(What, Value) -> t:p(What, Value).
