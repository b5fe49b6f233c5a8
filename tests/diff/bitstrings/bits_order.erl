%% Bit strings compared, sorted, as keys.
-module(bits_order).
-export([main/0]).
main() ->
    Bs = [<<>>, <<0>>, <<0:1>>, <<1:1>>, <<0, 0>>, <<1>>, <<1:7>>, <<128>>, <<1, 0:1>>, <<1, 1:1>>, <<255>>, <<"a">>, <<"ab">>, <<"b">>, <<0:64>>, <<0:65>>, binary:copy(<<0>>, 70)], t:p(lists:sort(Bs)), t:p([{A < B, A == B} || A <- Bs, B <- Bs] =:= [{B > A, B =:= A} || A <- Bs, B <- Bs]), M = maps:from_list(lists:zip(Bs, lists:seq(1, length(Bs)))), t:p([maps:get(B, M) || B <- Bs]), <<_:3, U:9/bits, _/bits>> = <<0, 255, 255>>, t:p({U, U =:= <<15, 1:1>>, maps:find(U, #{<<15, 1:1>> => yes}), U < <<16>>}), t:p(lists:usort([<<1:1>>, <<1:1>>, <<1:2>>, <<0:1>>])).
