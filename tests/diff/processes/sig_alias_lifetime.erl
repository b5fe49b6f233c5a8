%% Aliases: what reaches the owner while they are active, and what not.
-module(sig_alias_lifetime).
-export([main/0]).
main() ->
    A = alias(), A ! 1, t:p(t:flush()), t:p(unalias(A)), A ! 2, t:p(t:flush()), t:p(unalias(A)),
    B = alias([reply]), B ! 1, B ! 2, t:p(t:flush()), t:p(unalias(B)), C = alias([explicit_unalias]), C ! 1, C ! 2, t:p(t:flush()), t:p(unalias(C)),
    [t:p(t:c(fun() -> alias(O) end)) || O <- [[bad], bad, [reply | x], [reply, explicit_unalias]]], t:p(t:c(fun() -> unalias(a) end)),
    D = alias(), S = self(), spawn(fun() -> erlang:send(D, x), erlang:send(D, y, [noconnect]), S ! done end), receive done -> ok end, timer:sleep(10), t:p(t:flush()), t:p(m:outcome(erlang, send_after, [1, D, late])), unalias(D), timer:sleep(10), t:p(t:flush()), t:p(make_ref() ! lost).
