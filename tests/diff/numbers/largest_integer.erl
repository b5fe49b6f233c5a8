%% since 27
%% The largest integer that there is, and what makes a larger one.
-module(largest_integer).
-export([main/0]).

main() ->
    Max = erlang:system_info(max_integer),
    Bytes = binary:encode_unsigned(Max),
    Size = byte_size(Bytes),
    io:format("~p bytes, all ones: ~p~n", [Size, Bytes =:= binary:copy(<<255>>, Size)]),
    Etf = fun(N, Sign) -> <<131, 111, N:32, Sign, (binary:copy(<<255>>, N))/binary>> end,
    Half = 1 bsl (Size * 4),
    [io:format("~p: ~p~n", [What, outcome(F, Max)]) || {What, F} <-
        [{add, fun() -> Max + 1 end},
         {subtract, fun() -> -Max - 1 end},
         {negate, fun() -> -Max end},
         {complement, fun() -> bnot Max end},
         {multiply, fun() -> Max * 2 end},
         {square, fun() -> Half * (Half bsr 1) end},
         {square_too_large, fun() -> Half * Half end},
         {shift, fun() -> 1 bsl (Size * 8 - 1) end},
         {shift_too_far, fun() -> 1 bsl (Size * 8) end},
         {shift_of_minus_one, fun() -> -1 bsl (Size * 8 - 1) end},
         {shift_of_minus_one_too_far, fun() -> -1 bsl (Size * 8) end},
         {shift_by_much, fun() -> 1 bsl (1 bsl 70) end},
         {zero_by_much, fun() -> 0 bsl (1 bsl 70) end},
         {'xor', fun() -> Max bxor 1 end},
         {divide, fun() -> Max div 1 end},
         {binary_to_term, fun() -> binary_to_term(Etf(Size, 0)) end},
         {binary_to_term_negative, fun() -> binary_to_term(Etf(Size, 1)) end},
         {binary_to_term_too_large, fun() -> binary_to_term(Etf(Size + 1, 0)) end},
         {match, fun() -> <<N:Size/unit:8>> = Bytes, N end},
         {text, fun() -> binary_to_integer(binary:copy(~"f", Size * 2), 16) end},
         {text_too_long, fun() -> binary_to_integer(binary:copy(~"f", Size * 2 + 1), 16) end},
         {text_with_zeros, fun() -> binary_to_integer(<<"0000", (binary:copy(~"f", Size * 2))/binary>>, 16) end},
         {list_too_long, fun() -> list_to_integer(lists:duplicate(Size * 2 + 1, $f), 16) end}]].

outcome(F, Max) ->
    try F() of
        N when N =:= Max -> max;
        N when N =:= -Max -> '-max';
        N when is_integer(N) -> {bytes, byte_size(binary:encode_unsigned(abs(N)))}
    catch
        C:R -> {C, R}
    end.
