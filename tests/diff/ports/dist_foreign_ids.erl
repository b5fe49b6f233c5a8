%% Pids, ports and references of other nodes: printing, order, hashes, external forms.
-module(dist_foreign_ids).
-export([main/0]).
main() ->
    Ns = ["a@b", "z@y", "nonode@nohost"], Ps = [binary_to_term(<<131, 88, 119, (length(N)), (list_to_binary(N))/binary, I:32, S:32, C:32>>) || N <- Ns, I <- [1, 70000], S <- [0, 5], C <- [1, 9]], Rs = [binary_to_term(<<131, 90, (length(W)):16, 119, (length(N)), (list_to_binary(N))/binary, C:32, << <<X:32>> || X <- W >>/binary>>) || N <- Ns, C <- [1, 2], W <- [[5], [5, 6], [5, 6, 7], [1, 2, 3, 4, 5]]], Os = [binary_to_term(<<131, 120, 119, (length(N)), (list_to_binary(N))/binary, I:64, C:32>>) || N <- Ns, I <- [3, 1 bsl 40], C <- [1]],
    t:p(length(lists:usort(Ps))),
    t:p([order(X, lists:sort(Ps)) || X <- Ps]),
    t:p([order(X, lists:sort(Rs)) || X <- Rs]),
    t:p([order(X, lists:sort(Os)) || X <- Os]),
    t:p([erlang:phash2(X) || X <- Ps ++ Rs ++ Os]),
    t:p([term_to_binary(X) || X <- Ps]),
    t:p([term_to_binary(X) || X <- Rs ++ Os]),
    t:p([{node(X), is_pid(X), is_reference(X), is_port(X)} || X <- [hd(Ps), hd(Rs), hd(Os)]]),
    t:p([lists:nthtail(length(hd(string:split(pid_to_list(X), "."))), pid_to_list(X)) || X <- Ps]),
    t:p([tl(string:split(erlang:ref_to_list(X), ".")) || X <- Rs]),
    t:p([tl(string:split(erlang:port_to_list(X), ".")) || X <- Os]),
    t:p([binary_to_term(term_to_binary(X)) =:= X || X <- Ps ++ Rs ++ Os]),
    t:p([A < B || A <- [hd(Ps), hd(Rs), hd(Os)], B <- [hd(Ps), hd(Rs), hd(Os), 1, a, {}, fun lists:map/2, [], <<>>]]),
    t:p(maps:size(maps:from_list([{X, 1} || X <- Ps ++ Ps ++ Rs]))), T = ets:new(t, []), [ets:insert(T, {X, I}) || {X, I} <- lists:zip(Rs, lists:seq(1, length(Rs)))],
    t:p([ets:lookup_element(T, X, 2) || X <- Rs]),
    t:p([t:plain(t:c(fun() -> binary_to_term(B) end)) || B <- [<<131, 90, 6:16, 119, 1, "a", 1:32, 0:192>>, <<131, 103, 119, 1, "a", 1:32, 2:32, 3>>, <<131, 101, 119, 1, "a", 1:32, 3>>, <<131, 102, 119, 1, "a", 1:32, 3>>, <<131, 114, 1:16, 119, 1, "a", 3, 9:32>>, <<131, 89, 97, 1, 1:32, 1:32>>, <<131, 88, 119, 1, "a", 1:32, 16#FFFFFFFF:32, 1:32>>]]).
order(X, [X | _]) -> 0; order(X, [_ | Xs]) -> 1 + order(X, Xs).
