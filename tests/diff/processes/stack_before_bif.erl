%% Where a process is whose time slice ended before a call of a BIF: it is in the BIF, and its stack
%% trace begins at the call.
-module(stack_before_bif).
-export([main/0]).

main() ->
    [begin
         Pid = spawn(Run),
         Seen = sample(Pid, 100000, #{}),
         exit(Pid, kill),
         t:p({What, lists:sort(maps:to_list(Seen))})
     end || {What, Run} <- [{direct, fun() -> direct(1) end}, {tail, fun() -> tail(1) end}]].

%% Until it was seen before each of its three BIFs often.
sample(_, 0, Seen) -> maps:map(fun(_, {Stacks, _}) -> Stacks end, Seen);
sample(Pid, N, Seen) ->
    erlang:yield(),
    [{_, Function}, {_, Stack}] = process_info(Pid, [current_function, current_stacktrace]),
    case Function of
        {Module, _, _} when Module =/= ?MODULE ->
            Calls = [{M, F, A, proplists:get_value(line, At)} || {M, F, A, At} <- Stack],
            {Stacks, Times} = maps:get(Function, Seen, {[], 0}),
            New = Seen#{Function => {lists:usort([Calls | Stacks]), Times + 1}},
            Enough = length([enough || {_, Often} <- maps:values(New), Often >= 20]) >= 3,
            sample(Pid, if Enough -> 0; true -> N - 1 end, New);
        _ ->
            sample(Pid, N - 1, Seen)
    end.

direct(N) ->
    _ = erlang:phash2(N),
    _ = lists:member(N, [a, b]),
    _ = erlang:crc32(<<"x">>),
    turn(N * N rem 23 + N div 1000 rem 7),
    direct(N + 1).

tail(N) ->
    _ = erlang:phash2(N),
    _ = last(N),
    _ = erlang:crc32(<<"x">>),
    turn(N * N rem 23 + N div 1000 rem 7),
    tail(N + 1).

%% So that slices end at each of the calls, whatever the period of the loop.
turn(0) -> ok;
turn(N) -> turn(N - 1).

last(N) ->
    lists:member(N, [a, b]).
