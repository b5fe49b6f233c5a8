%% A monitor of oneself is a reference and no more, with an alias or without; who watches a process, in
%% which order that is told; and to suspend one that is gone.
-module(sig_monitor_self).
-export([main/0]).

main() ->
    [own(Opts) || Opts <- [[], [{tag, down}]] ++ [[{alias, K}] || K <- [explicit_unalias, demonitor, reply_demonitor]]],
    named(),
    watched(),
    gone().

own(Opts) ->
    R = monitor(process, self(), Opts),
    R ! to_alias,
    t:p({Opts, process_info(self(), [monitors, monitored_by]), got(), unalias(R), demonitor(R, [info])}).

named() ->
    register(own_name, self()),
    R = monitor(process, own_name, [{alias, demonitor}]),
    R ! to_alias,
    t:p({named, process_info(self(), [monitors, monitored_by]), got(), unalias(R), demonitor(R, [info])}),
    unregister(own_name).

got() -> receive M -> M after 0 -> nothing end.

%% The one who came last is told first.
watched() ->
    Own = self(),
    Watch = fun(_) ->
        P = spawn(fun() -> monitor(process, Own), Own ! {watches, self()}, receive stop -> ok end end),
        receive {watches, P} -> P end
    end,
    All = lists:map(Watch, lists:seq(1, 5)),
    {monitored_by, By} = process_info(self(), monitored_by),
    t:p({watched, By =:= lists:reverse(All)}),
    [P ! stop || P <- All].

gone() ->
    {P, R} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', R, _, _, _} -> ok end,
    Suspend = fun(Opts) -> catch erlang:suspend_process(P, Opts) end,
    t:p({gone, Suspend([asynchronous]), Suspend([{asynchronous, tag}]), got(),
         element(1, Suspend([])), element(2, process_info(self(), suspending))}).
