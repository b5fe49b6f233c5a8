%% The same work in processes whose first heap has every size: whatever reserves
%% room for later instructions must really leave it.
-module(heap_shapes).
-export([main/0]).
main() ->
    Works = [fun binaries/0, fun floats/0, fun maps/0, fun tuples/0, fun bigs/0, fun matching/0, fun funs/0, fun calls/0],
    [t:p(all_same(W)) || W <- Works].

all_same(Work) ->
    Results = [run(Work, N) || N <- lists:seq(1, 400, 3)],
    [Result] = lists:usort(Results),
    g:digest(Result).

run(Work, N) ->
    {Pid, Ref} = spawn_opt(fun() -> exit({result, Work()}) end, [monitor, {min_heap_size, N}]),
    receive {'DOWN', Ref, process, Pid, {result, R}} -> R; {'DOWN', Ref, process, Pid, Other} -> {crash, Other} end.

binaries() ->
    S = t:id(<<1, 2, 3, 4, 5, 6, 7>>),
    <<_:4, B:5/binary, R/bits>> = S,
    [{B, <<B/binary, B/binary>>, <<N:N, R/bits>>, [N | <<(N * N):40, 1.5:64/float>>], <<"abc", N>>, {N, <<S/binary, N:9>>}} || N <- lists:seq(1, 12)].

floats() -> [{F * 2, F + 0.5, F / 3, [F - 1.0 | F * F], float(N), N / 7} || N <- lists:seq(1, 20), F <- [N * 1.5, t:id(float(N))]].

maps() ->
    lists:foldl(fun(N, M) -> M1 = M#{N => {N}, {N} => N, a => M}, M2 = M1#{a := N}, M2 end, #{}, lists:seq(1, 40)).

tuples() ->
    L = [{N, [N], {N, N + 1, [a, N]}} || N <- lists:seq(1, 60)],
    {setelement(2, list_to_tuple(L), x), [list_to_tuple(tuple_to_list(T) ++ [z]) || T <- L]}.

bigs() ->
    B = t:id(1 bsl 59), C = t:id(-1 bsl 64),
    [{B + N, B * N, C - N, (B + N) band C, [B bsl N | C bsr N], B - 1, {-(B * C)}} || N <- lists:seq(1, 20)].

matching() ->
    Bin = list_to_binary(lists:seq(1, 60)),
    {take(Bin, []), [X || <<X:13>> <= Bin], [{X, Y} || <<X:3, Y:70, _:7>> <= Bin], << <<X:7>> || <<X>> <= Bin >>}.
take(<<A, B:9/bits, C:2/binary, R/bits>>, Acc) -> take(R, [{A, B, C} | Acc]);
take(R, Acc) -> {R, Acc}.

funs() -> [F(1) || N <- lists:seq(1, 30), F <- [fun(X) -> {X, N} end, fun(X) -> [N, X | fun() -> N end()] end, fun(X) -> (fun(Y) -> {X, Y, N} end)(N) end]].

calls() -> [try deep(N, t:id(N)) catch throw:X -> X end || N <- lists:seq(1, 50)].
deep(0, X) -> throw({top, X, [X]});
deep(N, X) -> {deep(N - 1, {X, N}), X}.
