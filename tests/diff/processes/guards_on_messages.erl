%% Guards that fail on a message of the queue, with an exception that holds a part of it: the message stays
%% where it is, whole, and nothing of the exception is there when the process's memory is collected.
%% What is expected follows from that: OTP 25.2.3, 27 and 29 keep the exception, and change messages or crash.
-module(guards_on_messages).
-export([main/0]).

main() ->
    [queue(Where, Kind) || Where <- [on_heap, off_heap], Kind <- kinds()],
    io:format("~w~n", [others()]),
    halt().

kinds() -> [integer, float, big, reference, function, pid, small, large, list, tuple, map, part].

value(integer, I) -> I;
value(float, I) -> I / 3;
value(big, I) -> I + (1 bsl 70);
value(reference, _) -> make_ref();
value(function, I) -> fun() -> I end;
value(pid, _) -> self();
value(small, I) -> <<I:64>>;
value(large, I) -> <<I:64, 0:8000>>;
value(list, I) -> lists:seq(I, I + 20);
value(tuple, I) -> {I, [I]};
value(map, I) -> #{I => [I]};
value(part, I) -> binary:part(<<I:64, 0:8000>>, 1, 7 + I rem 500).

queue(Where, Kind) ->
    {Pid, Ref} = spawn_opt(fun() -> exit(run(Kind)) end, [monitor, {message_queue_data, Where}]),
    receive {'DOWN', Ref, process, Pid, Result} -> io:format("~p~n", [{Where, Kind, Result}]) end.

run(Kind) ->
    Values = [value(Kind, I) || I <- lists:seq(1, 300)],
    [self() ! {item, I, V} || {I, V} <- lists:zip(lists:seq(1, 300), Values)],
    Found = [guard(G) || G <- lists:seq(1, 18)],
    garbage_collect(),
    [self() ! V || V <- Values],
    Bare = [bare(G) || G <- lists:seq(1, 3)],
    garbage_collect(),
    All = [V || {item, _, V} <- all()],
    {Found, Bare, is_permutation(All, Values)}.

is_permutation(All, Values) -> length(All) =:= 300 andalso All =:= Values.

guard(G) ->
    Result = guarded(G),
    garbage_collect(),
    Result.

guarded(1) -> receive {item, _, V} when map_size(V) > 20 -> V after 0 -> none end;
guarded(2) -> receive {item, I, V} when is_map_key(I, V), I > 400 -> V after 0 -> none end;
guarded(3) -> receive {item, I, V} when map_get(I, V) =:= no -> V after 0 -> none end;
guarded(4) -> receive {item, I, V} when map_get(V, I) =:= no -> V after 0 -> none end;
guarded(5) -> receive {item, _, V} when length(V) > 400 -> V after 0 -> none end;
guarded(6) -> receive {item, _, V} when element(9, V) -> V after 0 -> none end;
guarded(7) -> receive {item, _, V} when hd(V) =:= no -> V after 0 -> none end;
guarded(8) -> receive {item, _, V} when byte_size(V) > 9000 -> V after 0 -> none end;
guarded(9) -> receive {item, _, V} when V + 1 =:= no -> V after 0 -> none end;
guarded(10) -> receive {item, _, V} when map_size(#{V => 1}) =:= map_size(V), V -> V after 0 -> none end;
guarded(11) -> receive {item, _, V} when map_size(V#{a := V}) > 0, V -> V after 0 -> none end;
guarded(12) -> receive {item, _, V} when binary_part(V, 0, 9000) =:= V -> V after 0 -> none end;
guarded(13) -> receive {item, _, V} when <<V/binary>> =:= none -> V after 0 -> none end;
guarded(14) -> receive {item, _, V} when <<V:8>> =:= none -> V after 0 -> none end;
guarded(15) -> receive {item, _, V} when <<V/float>> =:= none -> V after 0 -> none end;
guarded(16) -> receive {item, _, V} when <<V/utf8>> =:= none -> V after 0 -> none end;
guarded(17) -> receive {item, _, V} when <<1:V>> =:= none -> V after 0 -> none end;
guarded(18) -> receive {item, _, V} when <<V:9000/binary, V/binary>> =:= none -> V after 0 -> none end.

bare(G) ->
    Result = bare_guard(G),
    garbage_collect(),
    Result.

bare_guard(1) -> receive V when map_size(V) > 20 -> V after 0 -> none end;
bare_guard(2) -> receive V when is_map_key(none, V) -> V after 0 -> none end;
bare_guard(3) -> receive V when map_get(none, V) =:= V -> V after 0 -> none end.

all() -> receive X -> [X | all()] after 0 -> [] end.

%% Messages of another process, which come while the receiver skips those before.
others() ->
    Self = self(),
    Sender = spawn_link(fun() -> [Self ! {I, make_ref(), <<I:2000>>} || I <- lists:seq(1, 3000)], Self ! done end),
    done = receive M when map_size(M) > 1 -> M; done -> done end,
    [garbage_collect() || _ <- [1, 2]],
    Sizes = [byte_size(B) || {_, R, B} <- all(), is_reference(R)],
    unlink(Sender),
    {length(Sizes), lists:usort(Sizes)}.
