%% Where processes that compute with BIFs are preempted, on one scheduler: how many results each sends
%% in a row.
-module(preemption_by_bifs).
-export([main/0]).
main() ->
    {P, M} = spawn_opt(fun all/0, [monitor, {scheduler, 1}]),
    receive {'DOWN', M, process, P, Why} -> t:p(Why) end.
all() ->
    [w(K, 1) || K <- kinds()],
    [t:p({Ks, run(Ks)}) || Ks <- [[K, K] || K <- kinds()] ++ [kinds()]].
kinds() -> [l2b, iolist, split, md5, crc, t2b, b2t, phash, keyfind, uni, mapl, mapk, etss, etsi, etso, fmt, re, sort, send, bcopy, b2l, sub, int, match].
w(l2b, I) -> list_to_binary(lists:seq(1, 100 + I));
w(iolist, I) -> iolist_size([<<"abc">> || _ <- lists:seq(1, 200 + I)]);
w(split, I) -> binary:split(binary:copy(<<"ab,cd">>, 200 + I), <<",">>, [global]);
w(md5, I) -> erlang:md5(binary:copy(<<"ab">>, 30 + I));
w(crc, I) -> erlang:crc32(binary:copy(<<"ab">>, 300 + I));
w(t2b, I) -> term_to_binary([{X, foo} || X <- lists:seq(1, 100 + I)]);
w(b2t, I) -> binary_to_term(term_to_binary(lists:seq(1, 500 + I)));
w(phash, I) -> erlang:phash2(lists:seq(1, 500 + I));
w(keyfind, I) -> lists:keyfind(none, 1, [{X, a} || X <- lists:seq(1, 300 + I)]);
w(uni, I) -> unicode:characters_to_list(unicode:characters_to_binary(lists:seq(300, 500 + I)));
w(mapl, I) -> maps:to_list(maps:from_list([{X, X} || X <- lists:seq(1, 20 + I rem 5)]));
w(mapk, I) -> maps:keys(maps:map(fun(_, V) -> V + 1 end, maps:from_list([{X, X} || X <- lists:seq(1, 20 + I rem 5)])));
w(etss, I) -> T = ets:new(t, []), ets:insert(T, [{X, X} || X <- lists:seq(1, 50 + I)]), R = ets:select(T, [{{'$1', '_'}, [{'>', '$1', 3}], ['$1']}]), ets:delete(T), length(R);
w(etsi, I) -> T = ets:new(t, []), [ets:insert(T, {X, X}) || X <- lists:seq(1, 50 + I)], R = ets:tab2list(T), ets:delete(T), length(R);
w(etso, I) -> T = ets:new(t, [ordered_set]), [ets:insert(T, {X, X}) || X <- lists:seq(1, 50 + I)], R = ets:match_object(T, {'_', '_'}), ets:delete(T), length(R);
w(fmt, I) -> io_lib:format("~p ~s ~w", [{a, I}, "abc", [1, 2, I]]);
w(re, I) -> re:run(binary:copy(<<"ab,cd">>, 20 + I), <<"c(.)">>, [global]);
w(sort, I) -> lists:sort([X * 7919 rem 1009 || X <- lists:seq(1, 100 + I)]);
w(send, I) -> [self() ! X || X <- lists:seq(1, 20 + I)], [receive Y -> Y end || _ <- lists:seq(1, 20 + I)];
w(bcopy, I) -> binary:copy(<<"abcdefgh">>, 300 + I);
w(b2l, I) -> binary_to_list(binary:copy(<<"abcdefgh">>, 300 + I));
w(sub, I) -> lists:seq(1, 100 + I) -- lists:seq(50, 90 + I);
w(int, I) -> [list_to_integer(integer_to_list(X * 12345678)) || X <- lists:seq(1, 50 + I)];
w(match, I) -> binary:matches(binary:copy(<<"ab,cd">>, 100 + I), [<<",">>, <<"cd">>]).
run(Kinds) ->
    S = self(), Numbered = lists:zip(lists:seq(1, length(Kinds)), Kinds),
    Work = fun(N, K) -> receive go -> ok end, [begin w(K, I rem 17), S ! N end || I <- lists:seq(1, 60)], S ! done end,
    Pids = [spawn_opt(fun() -> Work(N, K) end, [link, {scheduler, 1}, {min_heap_size, 2000000}, {min_bin_vheap_size, 2000000}]) || {N, K} <- Numbered],
    [P ! go || P <- Pids], rows(collect(length(Pids), [])).
collect(0, L) -> lists:reverse(L);
collect(N, L) -> receive done -> collect(N - 1, L); M -> collect(N, [M | L]) end.
rows([]) -> [];
rows([N | _] = L) -> {Same, Rest} = lists:splitwith(fun(M) -> M =:= N end, L), [{N, length(Same)} | rows(Rest)].
