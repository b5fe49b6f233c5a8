%% Sharing is lost when terms are sent, and literals stay.
-module(msg_shared).
-export([main/0]).
main() ->
    L = lists:seq(1, 10), T = {L, L, L}, t:p({erts_debug:size(T), erts_debug:flat_size(T)}), E = spawn(fun() -> receive {Fr, X0} -> Fr ! X0 end end), E ! {self(), T}, U = receive U0 -> U0 end, t:p({erts_debug:size(U), erts_debug:flat_size(U), U =:= T}), Lit = {[1, 2, 3], "abc"}, P = spawn(fun() -> receive {F, X} -> F ! erts_debug:size(X) end end), P ! {self(), Lit}, receive N -> t:p(N >= 0) end,
    t:p(erts_debug:same(L, element(1, T))), t:p(erts_debug:same(element(1, U), element(2, U))), t:p([erts_debug:flat_size(X) || X <- [1, a, [], {}, {1}, [1], "ab", 1.0, 1 bsl 64, -(1 bsl 130), #{}, #{a => 1}, <<>>, <<1>>, binary:copy(<<1>>, 64), binary:copy(<<1>>, 65), make_ref(), self(), maps:from_list([{I, I} || I <- lists:seq(1, 33)])]]).
