%% Bit strings of odd lengths: built, cut, matched, joined, compared and turned into others.
-module(bits_comp_uneven).
-export([main/0]).
main() ->
    g:seed(33), Bs = [begin N = g:int(70), <<(g:int(1 bsl (N + 1))):N>> end || _ <- lists:seq(1, 120)],
    t:p(erlang:phash2([{bit_size(B), byte_size(B), bitstring_to_list(B), <<B/bits, 1:1>>, <<1:3, B/bits>>} || B <- Bs])),
    t:p(erlang:phash2([begin S = bit_size(B), K = g:int(S + 1), <<X:K/bits, Y/bits>> = B, <<Y/bits, X/bits>> end || B <- Bs])),
    t:p(erlang:phash2(lists:sort(Bs))),
    t:p(erlang:phash2(<< <<B/bits>> || B <- Bs >>)),
    t:p(erlang:phash2([<< <<X:3>> || <<X:5>> <= B >> || B <- Bs])),
    t:p(erlang:phash2([[X || <<X:7/signed-little>> <= B] || B <- Bs])),
    t:p(erlang:phash2([list_to_bitstring([B, [<<1:1>>, B]]) || B <- Bs])),
    t:p(erlang:phash2([term_to_binary(B) || B <- Bs])),
    t:p([binary_to_term(term_to_binary(B)) =:= B || B <- Bs] =:= [true || _ <- Bs]),
    t:p(lists:usort([t:c(fun() -> F(<<1:3>>) end) || F <- [fun erlang:binary_to_list/1, fun erlang:list_to_binary/1, fun erlang:iolist_size/1, fun erlang:binary_to_atom/1, fun erlang:crc32/1, fun binary:first/1, fun erlang:md5/1, fun erlang:binary_to_term/1, fun unicode:characters_to_list/1, fun base64:encode/1]])),
    t:p([case B of <<1:1, _/bits>> -> one; <<0:1, R/bits>> -> {zero, bit_size(R)}; <<>> -> empty end || B <- lists:sublist(Bs, 40)]),
    t:p(erlang:phash2([begin S = bit_size(B), <<R:S/unit:1>> = B, {R, binary:encode_unsigned(R)} end || B <- Bs])),
    t:p([<<B/bits>> =:= B || B <- Bs] =:= [true || _ <- Bs]),
    t:p([t:c(fun() -> <<(t:id(<<1:9>>))/binary>> end), t:c(fun() -> <<(t:id(<<1:9>>)):1/binary>> end), t:c(fun() -> <<(t:id(<<1:9>>)):2/binary>> end), t:c(fun() -> <<(t:id(<<1:9>>)):9/bits>> end), t:c(fun() -> <<(t:id(<<1:9>>)):10/bits>> end)]), A = lists:foldl(fun(B, Acc) -> <<Acc/bits, B/bits>> end, <<>>, Bs),
    t:p({bit_size(A), erlang:phash2(A)}),
    t:p([T || <<T:4/bits, _:3>> <= <<"abcdef">>]),
    t:p(<< <<Y, X>> || <<X, Y>> <= <<"swap me!">> >>),
    t:p([byte_size(<<0:N>>) || N <- lists:seq(0, 17)]),
    t:p(lists:sort([<<1:1>>, <<0:1>>, <<>>, <<1>>, <<128>>, <<1:2>>, <<0>>, <<2:2>>, <<255>>])).
