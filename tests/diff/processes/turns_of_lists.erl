%% processes/0 and ports/0 pay for every slot of their table: the turns that others get meanwhile.
-module(turns_of_lists).
-export([main/0]).

main() ->
    {P, M} = spawn_opt(fun all/0, [monitor, {scheduler, 1}]),
    receive {'DOWN', M, process, P, Why} -> t:p(Why) end.

all() ->
    show([{processes, fun() -> processes() end},
          {ports, fun() -> erlang:ports() end},
          {late, fun() -> erlang:bump_reductions(3970), processes() end},
          {late_ports, fun() -> erlang:bump_reductions(3970), erlang:ports() end},
          {early, fun() -> erlang:bump_reductions(3000), processes() end},
          {twice, fun() -> [processes(), processes()] end}]),
    Many = [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, 50000)],
    show([{many, fun() -> processes() end},
          {many_late, fun() -> erlang:bump_reductions(3500), processes() end}]),
    [P ! stop || P <- Many],
    show([{iterator, fun() -> walk(erlang:processes_iterator()) end} || erlang:system_info(otp_release) >= "28"]).

show(L) -> [t:p({Name, turns(F)}) || {Name, F} <- L].

turns(F) ->
    C = counters:new(1, []),
    Ticker = spawn_opt(fun() -> tick(C) end, [link, {scheduler, 1}]),
    S = self(),
    Timed = fun() -> erlang:yield(), A = counters:get(C, 1), F(), S ! {turns, counters:get(C, 1) - A} end,
    spawn_opt(Timed, [{scheduler, 1}]),
    receive {turns, N} -> unlink(Ticker), exit(Ticker, kill), N end.

tick(C) -> counters:add(C, 1, 1), erlang:yield(), tick(C).

walk(I) -> case erlang:processes_next(I) of none -> ok; {_, J} -> walk(J) end.
