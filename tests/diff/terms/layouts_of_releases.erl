%% What releases answer otherwise because they lay out terms otherwise, or check more.
-module(layouts_of_releases).
-export([main/0]).

main() ->
    X = t:id(3), Y = t:id(4),
    Funs = [fun() -> ok end, fun() -> X end, fun() -> {X, Y} end, fun lists:sort/1],
    t:pc(fun_words, fun() -> [{erts_debug:size(F), erts_debug:flat_size(F)} || F <- Funs] end),
    t:pc(shared_funs, fun() -> T = {hd(Funs), hd(Funs)}, {erts_debug:size(T), erts_debug:flat_size(T)} end),
    B = list_to_binary(lists:duplicate(100, 1)),
    <<S64:64/binary, _/bits>> = B, <<S65:65/binary, _/bits>> = B, <<_:1, Odd:24/bits, _/bits>> = B,
    <<_:1, Long:700/bits, _/bits>> = B,
    Bits = [B, S64, S65, Odd, Long, binary:copy(S64), <<X:7>>, <<X:9>>, list_to_bitstring([B, <<1:7>>]), <<X:8>>],
    t:pc(bit_words, fun() -> [{erts_debug:size(A), erts_debug:flat_size(A)} || A <- Bits] end),
    t:pc(in_a_list, fun() -> {erts_debug:size(Bits), erts_debug:flat_size(Bits)} end),
    t:pc(creator, fun() -> erlang:fun_info(hd(Funs), pid) =:= {pid, self()} end),
    t:pc(encoded, fun() -> byte_size(term_to_binary(hd(tl(Funs)))) > 60 end),
    t:pc(empty_bit_string, fun() -> binary_to_term(<<131, 77, 0:32, 0>>) end),
    t:pc(damaged_bit_string, fun() -> binary_to_term(<<131, 77, 0:32, 8>>) end),
    [t:pc({refused, N}, fun() -> t:c(fun() -> open_port(N, [eof]) end) =:= {error, badarg} end) ||
        N <- ["/nowhere/file", '/nowhere/file', <<"/nowhere/file">>, ["/nowhere"]]],
    [t:pc({pattern, P}, fun() -> {t:c(fun() -> binary:match(<<>>, P) end), t:c(fun() -> binary:matches(<<"abc">>, P, [{scope, {0, 0}}]) end),
        t:c(fun() -> binary:split(<<>>, P) end)} end) || P <- [<<>>, [], foo, <<1:3>>, <<"a">>]],
    t:pc(checksum, fun() ->
        Z = zlib:open(),
        zlib:deflateInit(Z),
        zlib:deflateSetDictionary(Z, list_to_binary(lists:duplicate(16, 255)))
    end).
