%% erlang:system_monitor: settings, what is told, and who is not told.
-module(tool_monitor).
-export([main/0, grow/1, stay/0]).

main() ->
    t:p({none, erlang:system_monitor()}),
    t:p({set, erlang:system_monitor(self(), [{long_gc, 50}, busy_port, {large_heap, 20000}, {long_schedule, 100}, busy_dist_port])}),
    {Me, All} = erlang:system_monitor(),
    t:p({get, Me =:= self(), lists:sort(All)}),
    t:p({small, begin erlang:system_monitor(self(), [{large_heap, 10}, {long_gc, 0}]), element(2, erlang:system_monitor()) end}),
    t:p({off, element(2, erlang:system_monitor(undefined)), erlang:system_monitor()}),
    [t:pc({bad, X}, fun() -> erlang:system_monitor(self(), t:id(X)) end) ||
        X <- [foo, [foo], [{long_gc, -1}], [{long_gc, x}], [{foo, 1}], [{long_message_queue, {1, 2}}], [long_gc | x], {long_gc, 1}]],
    [t:pc(bad, fun() -> erlang:system_monitor(t:id(P), [busy_port]) end) || P <- [foo, 1, dead()]],
    [t:pc(bad, fun() -> erlang:system_monitor(t:id(X)) end) || X <- [foo, {self()}, {self(), foo}, {self(), [busy_port], x}]],
    t:p({empty, erlang:system_monitor(self(), []), erlang:system_monitor()}),
    t:p({large_heap, told(large_heap, [{large_heap, 100000}], fun() -> grow(100000) end)}),
    t:p({long_gc, told(long_gc, [{long_gc, 1}], fun() -> grow(3000000) end)}),
    t:p({long_schedule, told(long_schedule, [{long_schedule, 1}], fun() -> [multiply(600000) || _ <- "123"] end)}),
    %% The monitor does not hear of itself, and when it has ended nothing is looked for.
    erlang:system_monitor(self(), [{large_heap, 20000}]),
    grow(50000),
    t:p({self, [M || {monitor, P, _, _} = M <- t:flush(), P =:= self()]}),
    {Pid, Ref} = spawn_monitor(fun() -> erlang:system_monitor(self(), [{large_heap, 20000}]) end),
    receive {'DOWN', Ref, process, Pid, _} -> ok end,
    t:p({ended, erlang:system_monitor()}),
    t:p({other, begin P2 = spawn(?MODULE, stay, []), erlang:system_monitor({P2, [busy_port]}) end}),
    t:p({kept, element(2, erlang:system_monitor())}).

dead() ->
    {Pid, Ref} = spawn_monitor(fun() -> ok end),
    receive {'DOWN', Ref, process, Pid, _} -> Pid end.

stay() -> receive stop -> ok end.

%% Takes many milliseconds without a break, where copying stops in its middle; and then goes on, as OTP
%% tells nothing of a process's last time slice.
multiply(Bits) ->
    N = t:id((1 bsl Bits) - 1),
    true = N * N > 0,
    erlang:yield().

grow(N) -> grow(N, []).
grow(0, L) -> length(L);
grow(N, L) -> grow(N - 1, [N | L]).

%% What is told of a process that does that: the keys, and their order.
told(What, Options, Fun) ->
    erlang:system_monitor(self(), Options),
    {Pid, Ref} = spawn_monitor(Fun),
    receive {'DOWN', Ref, process, Pid, normal} -> ok end,
    erlang:system_monitor(undefined),
    Infos = [I || {monitor, P, W, I} <- t:flush(), P =:= Pid, W =:= What],
    {length(Infos) > 0, lists:usort([[{K, kind(V)} || {K, V} <- I] || I <- Infos])}.

kind(N) when is_integer(N), N >= 0 -> n;
kind({_, _, _}) -> place;
%% Where it was, or that this is not known.
kind(undefined) -> place;
kind(X) -> X.
