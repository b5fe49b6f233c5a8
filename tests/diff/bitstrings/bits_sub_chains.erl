%% Parts of parts of binaries, with the large one gone.
-module(bits_sub_chains).
-export([main/0]).
main() ->
    B = list_to_binary([I rem 256 || I <- lists:seq(1, 100000)]), S = lists:foldl(fun(_, X) -> <<_:3, R:(bit_size(X) - 8)/bitstring, _/bitstring>> = X, R end, B, lists:seq(1, 200)), t:p({bit_size(S), erlang:phash2(S)}), P = binary:part(B, 50000, 10), t:p({P, binary:referenced_byte_size(P), byte_size(binary:copy(P)), binary:referenced_byte_size(binary:copy(P))}),
    erlang:garbage_collect(), t:p({P, bit_size(S)}), {A, C} = split_binary(B, 70), t:p({byte_size(A), byte_size(C), A < C, <<A/binary, C/binary>> =:= B}), t:p([binary:at(P, I) || I <- [0, 9]]), <<_:4, Q:64/bitstring, _/bitstring>> = P, t:p({Q, <<Q/bitstring, Q/bitstring>>, Q =:= <<Q/bitstring>>, erlang:phash2(Q) =:= erlang:phash2(<<(t:id(Q))/bitstring>>), term_to_binary(Q)}).
