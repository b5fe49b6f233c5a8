%% Programs that are measured phase by phase: two nodes that talk, and mnesia.
%%
%%   erl -noshell -name b@127.0.0.1 -setcookie lab -run lab_phases wait
%%   erl -noshell -name a@127.0.0.1 -setcookie lab -run lab_phases nodes 1000 b@127.0.0.1
%%   erl -noshell -mnesia dir '"/tmp/m"' -run lab_phases mnesia 1000
%%
%% Each phase lasts so many milliseconds. It prints `begin NAME` and waits for a
%% line, works, prints `end NAME COUNT NANOSECONDS P50 P99 P999` and waits again.
-module(lab_phases).
-export([wait/0, nodes/1, mnesia/1, echo/0]).

wait() ->
    true = register(lab_phases, self()),
    receive stop -> halt() end.

nodes([Ms, Name]) ->
    Node = list_to_atom(Name),
    ok = known(Node, 600),
    Time = list_to_integer(Ms),
    Echo = spawn(Node, ?MODULE, echo, []),
    phase("pingpong", fun() -> each(Time, fun() -> ping(Echo, <<>>) end) end),
    Kb = binary:copy(<<"x">>, 1024),
    phase("oneway_1kb", fun() -> batches(Time, Echo, Kb, 5000) end),
    phase("send_1mb", fun() -> batches(Time, Echo, binary:copy(Kb, 1024), 8) end),
    Large = binary:copy(Kb, 100 * 1024),
    phase("send_100mb", fun() -> batches(Time, Echo, Large, 1) end),
    Other = spawn(Node, ?MODULE, echo, []),
    Sender = spawn(fun() -> forever(Other, Large) end),
    phase("ping_100mb", fun() -> each(Time, fun() -> ping(Echo, <<>>) end) end),
    exit(Sender, kill),
    done().

known(_, 0) -> timeout;
known(Node, Times) ->
    case net_adm:ping(Node) =:= pong andalso rpc:call(Node, erlang, whereis, [lab_phases]) of
        Pid when is_pid(Pid) -> ok;
        _ -> timer:sleep(50), known(Node, Times - 1)
    end.

%% Answers a ping, and the last of several messages.
echo() ->
    receive
        {From, Ref, _} -> From ! Ref;
        _ -> ok
    end,
    echo().

ping(Echo, Data) ->
    Ref = make_ref(),
    Echo ! {self(), Ref, Data},
    receive Ref -> ok end.

forever(Echo, Data) ->
    ping(Echo, Data),
    forever(Echo, Data).

%% Messages one way, the last of so many answered: the figure is for one message.
batches(Ms, Echo, Data, Size) ->
    Batch = fun() ->
        [Echo ! Data || _ <- lists:seq(2, Size)],
        ping(Echo, Data)
    end,
    {Count, Nanos, Times} = each(Ms, Batch),
    {Count * Size, Nanos, [T div Size || T <- Times]}.

mnesia([Ms]) ->
    Time = list_to_integer(Ms),
    ok = mnesia:create_schema([node()]),
    ok = mnesia:start(),
    {atomic, ok} = mnesia:create_table(ram, [{ram_copies, [node()]}]),
    {atomic, ok} = mnesia:create_table(disc, [{disc_copies, [node()]}]),
    [{atomic, ok} = update(Table, Key) || Table <- [ram, disc], Key <- lists:seq(1, 1000)],
    phase("read", fun() -> workers(Time, fun() -> {atomic, [_]} = read(ram, rand:uniform(1000)) end) end),
    phase("update_ram", fun() -> workers(Time, fun() -> {atomic, ok} = update(ram, rand:uniform(1000)) end) end),
    phase("update_disc", fun() -> workers(Time, fun() -> {atomic, ok} = update(disc, rand:uniform(1000)) end) end),
    done().

read(Table, Key) ->
    mnesia:transaction(fun() -> mnesia:read(Table, Key) end).

update(Table, Key) ->
    mnesia:transaction(fun() ->
        Count = case mnesia:wread({Table, Key}) of [{_, _, N}] -> N; [] -> 0 end,
        mnesia:write({Table, Key, Count + 1})
    end).

%% Eight processes at once.
workers(Ms, Fun) ->
    Self = self(),
    Start = erlang:monotonic_time(nanosecond),
    Pids = [spawn_link(fun() -> Self ! {self(), each(Ms, Fun)} end) || _ <- lists:seq(1, 8)],
    All = [receive {Pid, Result} -> Result end || Pid <- Pids],
    Nanos = erlang:monotonic_time(nanosecond) - Start,
    {lists:sum([Count || {Count, _, _} <- All]), Nanos, lists:append([Times || {_, _, Times} <- All])}.

%% As often as fits the time: how often, in how many nanoseconds, and each.
each(Ms, Fun) ->
    Start = erlang:monotonic_time(nanosecond),
    Times = each(Start, Start + Ms * 1000000, Fun, []),
    {length(Times), erlang:monotonic_time(nanosecond) - Start, Times}.

each(Now, End, Fun, Times) when Now < End; Times =:= [] ->
    Fun(),
    Next = erlang:monotonic_time(nanosecond),
    each(Next, End, Fun, [Next - Now | Times]);
each(_, _, _, Times) ->
    Times.

phase(Name, Fun) ->
    io:format("begin ~s~n", [Name]),
    "go\n" = io:get_line(""),
    {Count, Nanos, Times} = Fun(),
    Sorted = list_to_tuple(lists:sort(Times)),
    At = fun(Share) -> element(max(1, ceil(Share * tuple_size(Sorted))), Sorted) end,
    io:format("end ~s ~w ~w ~w ~w ~w~n", [Name, Count, Nanos, At(0.5), At(0.99), At(0.999)]),
    "go\n" = io:get_line("").

done() ->
    io:format("done~n").
