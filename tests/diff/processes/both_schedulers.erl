%% Two processes of the highest priority that only compute get a scheduler each, also while the one that
%% started them waits for its turn.
-module(both_schedulers).
-export([main/0]).

main() ->
    case erlang:system_info(schedulers_online) of
        1 -> ok;
        _ -> spread(20)
    end,
    io:format("spread~n").

%% Until they have run on different schedulers at the same time once.
spread(N) when N > 0 ->
    Self = self(),
    End = now_ms() + 200,
    Hogs = [spawn_opt(fun() -> hog(Self, End, 0) end, [{priority, max}]) || _ <- [1, 2]],
    wait_until(End),
    Ran = [receive {Hog, Last} -> Last end || Hog <- Hogs],
    case Ran of
        [A, B] when A =/= B -> ok;
        _ -> spread(N - 1)
    end.

%% Without waiting for anything.
wait_until(End) ->
    case now_ms() < End of
        true -> wait_until(End);
        false -> ok
    end.

hog(Parent, End, _) ->
    Id = erlang:system_info(scheduler_id),
    case now_ms() < End of
        true -> hog(Parent, End, Id);
        false -> Parent ! {self(), Id}
    end.

now_ms() -> erlang:monotonic_time(millisecond).
