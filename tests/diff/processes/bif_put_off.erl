%% Conversions that begin with any number of reductions left: with few OTP puts them off.
-module(bif_put_off).
-export([main/0]).

main() ->
    L = [X rem 256 || X <- lists:seq(1, 2400)],
    B = list_to_binary(L),
    Bits = <<B/binary, 5:3>>,
    Calls = [{binary_to_list, fun() -> binary_to_list(B) end, L},
             {part, fun() -> binary_to_list(B, 1, 2000) end, lists:sublist(L, 2000)},
             {bitstring_to_list, fun() -> bitstring_to_list(Bits) end, L ++ [<<5:3>>]},
             {list_to_binary, fun() -> list_to_binary([L, B]) end, <<B/binary, B/binary>>},
             {few, fun() -> list_to_binary([1, B]) end, <<1, B/binary>>},
             {empty, fun() -> list_to_binary([]) end, <<>>},
             {bad, fun() -> catch list_to_binary([L, bad]) end, bad},
             {list_to_bitstring, fun() -> list_to_bitstring([L, Bits]) end, <<B/binary, Bits/bitstring>>},
             {iolist_to_binary, fun() -> iolist_to_binary([B | B]) end, <<B/binary, B/binary>>}],
    [t:p({Name, right(Call, Answer)}) || {Name, Call, Answer} <- Calls].

right(Call, Answer) ->
    length([X || X <- lists:seq(1, 4100), begin spin(X), is_right(Call(), Answer) end]).

is_right({'EXIT', {badarg, _}}, bad) -> true;
is_right(Answer, Answer) -> true;
is_right(_, _) -> false.

spin(0) -> ok;
spin(N) -> spin(N - 1).
