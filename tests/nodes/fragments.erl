%% Messages that go in fragments, and atoms that go by the cache: what arrives is what was sent, and
%% signals of one process keep their order beside those of others.
-module(fragments).
-export([main/0, echo/0, collect/2, ends/1]).

main() ->
    N = two:other(),
    Echo = spawn(N, ?MODULE, echo, []),
    [two:p(Name, fun() -> echoed(Echo, Term) end) || {Name, Term} <- terms()],
    two:p(kept, fun() -> kept(Echo) end),
    two:p(atoms, fun() -> [echoed(Echo, A) || A <- atoms(), _ <- [1, 2]] end),
    two:p(order, fun() -> order(N) end),
    two:p(senders, fun() -> senders(N) end),
    two:p(down, fun() -> down(N) end),
    two:p(link, fun() -> linked(N) end),
    two:p(spawned, fun() -> spawned(N) end),
    two:p(called, fun() -> rpc:call(N, binary, copy, [<<"abc">>, 3000000]) =:= binary:copy(<<"abc">>, 3000000) end),
    two:p(killed, fun() -> killed(N, Echo) end),
    two:p(again, fun() -> rpc:call(N, erlang, abs, [-1]) end).

terms() ->
    Numbers = lists:seq(1, 200000),
    Deep = lists:foldl(fun(I, D) -> {I, [D | i]} end, end_of_it, lists:seq(1, 50000)),
    Map = maps:from_list([{I, {integer_to_list(I), I * 1.5}} || I <- lists:seq(1, 20000)]),
    F = fun(X) -> {X, Numbers} end,
    Bits = <<(binary:copy(<<7>>, 200000))/binary, 5:3>>,
    Binary = binary:copy(<<"0123456789abcdef">>, 500000),
    [{binary, Binary}, {numbers, Numbers}, {deep, Deep}, {map, Map},
     {bits, Bits}, {askew, binary:part(Binary, 3, 300001)},
     {funs, [F, fun erlang:abs/1, F]}, {string, lists:duplicate(65535, $a)},
     {strings, [lists:duplicate(65536, $a), lists:duplicate(65534, $b) | tail]},
     {identities, [{self(), make_ref(), 1 bsl 500} || _ <- lists:seq(1, 8000)]},
     {mixed, {Binary, Map, [Numbers | Deep], Bits, F, ''}},
     {exactly, binary:copy(<<1>>, 65536 - 5)}, {one_more, binary:copy(<<1>>, 65536 - 4)}].

atoms() ->
    Long = list_to_atom(lists:duplicate(255, 16#e5)),
    All = [list_to_atom("cached_" ++ integer_to_list(I)) || I <- lists:seq(1, 5000)],
    [list_to_tuple(All), lists:sublist(All, 254), lists:sublist(All, 255), lists:sublist(All, 256),
     {Long, hd(All)}, Long, [{A, binary:copy(<<2>>, 3000)} || A <- lists:sublist(All, 2000, 300)],
     lists:sublist(All, 2040, 20)].

echoed(Echo, T) ->
    R = make_ref(),
    Echo ! {self(), R, T},
    receive {R, Back} -> Back =:= T after 30000 -> nothing end.
echo() ->
    receive {P, R, T} -> P ! {R, T}, echo() end.

%% A part of a message that is kept does not keep the rest of it.
kept(Echo) ->
    R = make_ref(),
    Echo ! {self(), R, {binary:copy(<<5>>, 40000), binary:copy(<<6>>, 4000000)}},
    receive {R, {Small, Large}} ->
        [binary:referenced_byte_size(B) =< 8 * byte_size(B) || B <- [Small, Large]]
    after 30000 -> nothing
    end.

%% Small ones wait behind the large one before them.
order(N) ->
    Me = self(),
    C = spawn(N, ?MODULE, collect, [Me, 6]),
    B = binary:copy(<<1>>, 4000000),
    [C ! M || M <- [one, {two, B}, three, {four, B}, {five, B}, six]],
    receive {C, All} -> [if is_tuple(M) -> element(1, M); true -> M end || M <- All] after 30000 -> nothing end.
collect(To, N) ->
    To ! {self(), [receive M -> M end || _ <- lists:seq(1, N)]}.

senders(N) ->
    Me = self(),
    C = spawn(N, ?MODULE, collect, [Me, 40]),
    [spawn(fun() ->
         B = binary:copy(<<I>>, 1000000 + I),
         [C ! {I, J, B} || J <- [1, 2]]
     end) || I <- lists:seq(1, 20)],
    receive
        {C, All} ->
            {[{I, J} || I <- lists:seq(1, 20), J <- [1, 2]] =:= lists:sort([{I, J} || {I, J, _} <- All]),
             lists:all(fun({I, _, B}) -> B =:= binary:copy(<<I>>, 1000000 + I) end, All),
             [I || I <- lists:seq(1, 20), [J || {X, J, _} <- All, X =:= I] =/= [1, 2]]}
    after 30000 -> nothing
    end.

down(N) ->
    {P, R} = spawn_monitor(N, ?MODULE, ends, [3000000]),
    receive {'DOWN', R, process, P, {gone, B}} -> byte_size(B) after 30000 -> nothing end.
linked(N) ->
    process_flag(trap_exit, true),
    P = spawn_link(N, ?MODULE, ends, [3000000]),
    receive {'EXIT', P, {gone, B}} -> byte_size(B) after 30000 -> nothing end.
ends(Size) ->
    exit({gone, binary:copy(<<3>>, Size)}).
spawned(N) ->
    B = binary:copy(<<4>>, 3000000),
    Me = self(),
    P = spawn(N, ?MODULE, collect, [Me, 1]),
    P ! {list, [B, B]},
    receive {P, [{list, [X, X]}]} -> X =:= B after 30000 -> nothing end.

%% Who is killed while a message of its goes harms nobody.
killed(_, Echo) ->
    L = lists:seq(1, 1000000),
    P = spawn(fun() -> Echo ! {self(), make_ref(), L} end),
    erlang:yield(),
    exit(P, kill),
    echoed(Echo, still_there).
