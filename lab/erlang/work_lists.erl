%% Lists, and strings that are lists.
-module(work_lists).
-export([programs/0]).

programs() ->
    Numbers = shuffled(20000),
    Short = lists:seq(1, 700),
    Few = shuffled(5000),
    [{nrev, fun() -> hd(nrev(Short)) end, 700},
     {sort, fun() -> lists:nth(500, lists:sort(Few)) end, 500},
     {operations, fun() -> operations(Numbers) end, {9999, 200010000, 20000}},
     {comprehensions, fun() -> comprehensions(Numbers) end, 200030000},
     {strings, fun() -> strings(500) end, 15968}].

nrev([]) -> [];
nrev([H | T]) -> nrev(T) ++ [H].

%% All numbers up to that, in an order that nothing is known of.
shuffled(N) ->
    {List, _} = lists:mapfoldl(fun(I, S) ->
                                   Next = (S * 1103515245 + 12345) band 16#7fffffff,
                                   {{Next, I}, Next}
                               end, 42, lists:seq(1, N)),
    [I || {_, I} <- lists:sort(List)].

operations(List) ->
    Doubled = lists:map(fun(X) -> 2 * X end, List),
    Some = lists:filter(fun(X) -> X > 20002 end, Doubled),
    Sum = lists:foldl(fun(X, Sum) -> X + Sum end, 0, lists:reverse(List)),
    {Front, Back} = lists:split(100, List),
    {length(Some), Sum, length(lists:append(Front, Back))}.

comprehensions(List) ->
    lists:sum([X + Y || X <- List, X rem 2 =:= 0, Y <- [X, 1], Y > 0]) -
        lists:sum([X || {X, _} <- [{X, X} || X <- List], X > 10000, X rem 3 =/= 0]).

strings(N) ->
    Lines = [lists:flatten(io_lib:format("~b: ~s~n", [I, string:uppercase(word(I))]))
             || I <- lists:seq(1, N)],
    Text = lists:append(Lines),
    Words = string:tokens(Text, ": \n"),
    length(string:join(Words, ", ")) + length(Words) + length(Text).

word(I) -> "word-" ++ integer_to_list(I * 7).
