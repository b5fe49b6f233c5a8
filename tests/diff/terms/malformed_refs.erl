%% References of this node, and of others, in the external format with more or fewer numbers than
%% the node writes.
-module(malformed_refs).
-export([main/0]).

main() ->
    <<131, 90, 3:16, Rest/binary>> = term_to_binary(make_ref()),
    Size = byte_size(Rest) - 16,
    <<Node:Size/binary, Creation:32, A:32, B:32, C:32>> = Rest,
    Numbers = [[A], [A, B], [A, B, C], [A, B, C, 1], [A, B, C, 1, 0], [A, B, C, 1, 1], [A, B, C, 16#ffffffff, 0],
               [A, B, C, 16#10000000, 0], [A, B, C, 1, 0, 0], [16#40000, B, C], [16#3ffff, 16#fffc0000, 16#ffffffff]],
    [t:pc(length(Ns), fun() -> read(<<131, 90, (length(Ns)):16, Node/binary, Creation:32>>, Ns) end) || Ns <- Numbers],
    [t:pc({old, length(Ns)}, fun() -> read(<<131, 114, (length(Ns)):16, Node/binary, 0>>, Ns) end) || Ns <- Numbers],
    [t:pc({other, length(Ns)}, fun() -> read(<<131, 90, (length(Ns)):16, 119, 3, "a@b", Creation:32>>, Ns) end)
     || Ns <- Numbers].

read(Head, Numbers) ->
    R = binary_to_term(<<Head/binary, << <<N:32>> || N <- Numbers >>/binary>>),
    {is_reference(R), node(R), byte_size(term_to_binary(R, [{minor_version, 1}])),
     length(string:lexemes(ref_to_list(R), ".")), (catch R ! hello)}.
