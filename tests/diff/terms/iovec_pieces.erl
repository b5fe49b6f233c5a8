%% The pieces of term_to_iovec/1,2: binaries of more than 64 bytes are pieces of their own, shared
%% with the term. Compressed it is one binary, in no list.
-module(iovec_pieces).
-export([main/0]).

main() ->
    Large = copies(1000),
    <<_:8, Part:500/binary, _/binary>> = Large,
    <<_:3, Uneven:500/binary, _/bits>> = Large,
    Bits = [begin <<B:N/bits, _/bits>> = Large, B end || N <- [512, 513, 519, 520, 2001]],
    Terms = [a, copies(64), copies(65), Part, Uneven, [copies(65), copies(65)], {copies(65), a},
             [Large | Large], #{k => Large}, copies(3000000), lists:duplicate(500, copies(100)),
             lists:seq(1, 30000), {lists:last(Bits), x}, [], fun() -> {Large, Bits} end | Bits],
    [t:p(pieces(T, O)) || T <- Terms, O <- [[], [{compressed, 0}], [{minor_version, 1}], [deterministic]]],
    [t:pc(O, fun() -> erlang:term_to_iovec(T, O) end)
     || T <- [a, copies(70), Large], O <- [[compressed], [{compressed, 1}], [foo], foo]],
    t:p([binary:referenced_byte_size(P) || P <- erlang:term_to_iovec({copies(200), Part}), byte_size(P) > 64]),
    [_, _, Shared] = erlang:term_to_iovec({copies(200), Part}) -- [copies(200)],
    t:p({Shared =:= Part, binary:referenced_byte_size(Shared)}),
    %% Since 26.
    t:pc(fun() -> sizes(erlang:term_to_iovec({Large}, [local])) end),
    t:pc(fun() -> binary_to_term(iolist_to_binary(erlang:term_to_iovec({Large}, [local]))) =:= {Large} end).

pieces(T, O) ->
    All = erlang:term_to_iovec(T, O),
    Whole = iolist_to_binary(All),
    {sizes(All), Whole =:= term_to_binary(T, O), binary_to_term(Whole) =:= T}.

sizes(All) -> [byte_size(B) || B <- All].

copies(N) -> binary:copy(<<"x">>, N).
