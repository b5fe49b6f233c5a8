%% Bit strings: sizes, conversion, comparison, joining.
-module(bitstrings).
-export([main/0]).
main() ->
    Bs = [<<>>, <<1:1>>, <<0:1>>, <<5:3>>, <<255:7>>, <<1, 2:2>>, <<"abc">>, <<1:9>>],
    [t:p(B, {bit_size(B), byte_size(B), is_binary(B), bitstring_to_list(B)}) || B <- Bs],
    t:p(lists:sort(Bs)),
    t:p([A < B || A <- Bs, B <- Bs]),
    t:p(list_to_bitstring([1, <<2:3>>, <<3:5>>, "ab", [<<1:1>>]])),
    t:pc(fun() -> list_to_bitstring([<<1:1>>, 256]) end),
    t:pc(fun() -> list_to_binary([<<1:1>>]) end),
    t:pc(fun() -> binary_to_list(<<1:1>>) end),
    t:pc(fun() -> iolist_size([<<1:1>>]) end),
    <<_:3, Off/bits>> = t:id(<<"hello world">>),
    t:p({Off, bit_size(Off), bitstring_to_list(Off)}),
    t:p(Off =:= t:id(<<Off/bits>>)),
    t:p(erlang:phash2(Off)),
    <<_:4, Sub:3/binary, _/bits>> = t:id(<<"hello">>),
    t:p({Sub, binary_to_list(Sub), term_to_binary(Sub), <<Sub/binary, Sub/binary>>}),
    t:p({<<Sub/binary>> =:= <<"V\306\306">>, Sub == t:id(<<16#86, 16#56, 16#C6>>)}),
    t:p(binary_part(<<"abcdef">>, 2, 3)), t:p(binary_part(<<"abcdef">>, {6, -2})),
    t:pc(fun() -> binary_part(t:id(<<"abc">>), 2, 3) end),
    t:p(split_binary(<<"abcdef">>, 2)), t:pc(fun() -> split_binary(t:id(<<"abc">>), 4) end).
