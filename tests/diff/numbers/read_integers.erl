%% Texts of integers with very many digits: from 27 on Erlang code reads them in turns.
-module(read_integers).
-export([main/0]).

main() ->
    [whole(Count, Base, Sign) || Count <- [1, 50, 15_999, 16_000, 16_001, 40_000],
        Base <- [2, 10, 16, 36], Sign <- ["", "-", "+"]],
    [rest(Count, Rest) || Count <- [3, 16_000, 40_000], Rest <- ["", "abc", " 12", [-1], [a | b], "-5" ++ tail, "."]],
    [wrong(Text) || Text <- wrong()],
    zeros(),
    meanwhile().

digits(Count, Base) ->
    [digit((I * I div 7 + I) rem Base) || I <- lists:seq(1, Count)].

digit(D) when D < 10 -> $0 + D;
digit(D) -> $a + D - 10.

whole(Count, Base, Sign) ->
    Text = Sign ++ digits(Count, Base),
    N = list_to_integer(Text, Base),
    N = binary_to_integer(list_to_binary(Text), Base),
    N = binary_to_integer(list_to_binary(string:uppercase(Text)), Base),
    io:format("~p ~p ~p: ~p~n", [Count, Base, Sign, erlang:phash2(N)]).

rest(Count, Rest) ->
    Text = "-9" ++ digits(Count, 10) ++ Rest,
    {N, Left} = string:to_integer(Text),
    io:format("~p ~p: ~p ~p~n", [Count, Rest, erlang:phash2(N), Left]).

%% Not two signs, which OTP takes from 27 on if many digits follow.
wrong() ->
    Long = digits(20_000, 10),
    ["-", "+", "", Long ++ "x", Long ++ "-", Long ++ [256], "x" ++ Long, Long ++ " ", "+" ++ Long ++ [a]].

wrong(Text) ->
    List = catch list_to_integer(Text),
    Binary = catch binary_to_integer(list_to_binary(Text)),
    Start = string:to_integer(Text),
    io:format("~p: ~p ~p ~p~n", [lists:sublist(Text, 3), why(List), why(Binary), erlang:phash2(Start)]).

why(N) when is_integer(N) -> {read, erlang:phash2(N)};
why({'EXIT', {Reason, [{Module, Function, Args, _} | _]}}) -> {Reason, Module, Function, length(Args)}.

%% Zeros in front are no digits that count.
zeros() ->
    Zeros = lists:duplicate(50_000, $0),
    [io:format("~p~n", [F(Text)]) || Text <- [Zeros, Zeros ++ "17", "-" ++ Zeros ++ "17"],
        F <- [fun list_to_integer/1, fun(T) -> binary_to_integer(list_to_binary(T)) end, fun string:to_integer/1]].

%% A process that is sent messages, and is ended, while it reads.
meanwhile() ->
    Text = list_to_binary(digits(60_000, 10)),
    Self = self(),
    Reader = fun() -> receive go -> Self ! {self(), erlang:phash2(binary_to_integer(Text))} end end,
    Pids = [spawn(Reader) || _ <- lists:seq(1, 5)],
    [begin Pid ! go, Pid ! more end || Pid <- Pids],
    [receive {Pid, Hash} -> io:format("~p~n", [Hash]) end || Pid <- Pids],
    {Pid, Monitor} = spawn_monitor(Reader),
    Pid ! go,
    exit(Pid, kill),
    receive {'DOWN', Monitor, process, Pid, Why} -> io:format("~p~n", [Why]) end.
