%% Each kind of term survives being sent, through several processes and with others around it.
-module(msg_terms).
-export([main/0]).
main() ->
    E = spawn(fun L() -> receive {F, X} -> F ! {back, X}, L() end end), Big = maps:from_list([{I, {I, <<I:1000>>}} || I <- lists:seq(1, 50)]), B = binary:copy(<<"xyz">>, 100), <<_:5, Sub:300/bitstring, _/bitstring>> = B, X = 5, F = fun(Y) -> X + Y end,
    [begin E ! {self(), T}, receive {back, U} -> t:p({U =:= T, erts_debug:flat_size(U) =:= erts_debug:flat_size(T)}) end end || T <- [1, a, 1.5, 1 bsl 200, "abc", [], {}, #{}, Big, B, Sub, <<1:1>>, F, fun lists:map/2, self(), make_ref(), [a | b], {[{}], #{k => [B, B]}}, lists:seq(1, 5000), {Big, Big}, list_to_tuple(lists:seq(1, 1000)), <<>>, atomics:new(1, [])]], exit(E, kill).
