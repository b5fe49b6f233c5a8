%% Random values from a seed: the same on every machine, for programs that try
%% thousands of operations and print a digest of what came out.
-module(g).
-export([seed/1, int/1, one/1, small/0, integer/0, float/0, number/0, atom/0, bin/1, bits/1,
         string/1, term/1, list/2, times/2, digest/1, digest/2]).

seed(N) -> _ = rand:seed(exsss, {N, N * 7 + 1, N * 13 + 5}), ok.

%% 0 =< int(N) < N
int(N) -> rand:uniform(N) - 1.

one(List) -> lists:nth(rand:uniform(length(List)), List).

small() -> int(2001) - 1000.

%% Integers of all sizes, thick around the powers of two.
integer() ->
    case int(6) of
        0 -> small();
        1 -> sign(1 bsl int(70) + int(5) - 2);
        2 -> sign(1 bsl (60 + int(200)) - int(3));
        3 -> sign(rand:uniform(1 bsl 62));
        4 -> int(16);
        5 -> sign(int(1 bsl (1 + int(300))))
    end.

sign(N) -> case int(2) of 0 -> N; 1 -> -N end.

float() ->
    case int(5) of
        0 -> float(small());
        1 -> small() / 7;
        2 -> rand:uniform() * math:pow(10, int(60) - 30);
        3 -> one([0.0, 1.0, -1.5, 1.0e308, 4.0e-320, 9007199254740993.0, -0.1, 1.0e22]);
        4 -> -rand:uniform()
    end.

number() -> case int(3) of 0 -> float(); _ -> integer() end.

atom() -> one([a, b, c, ok, error, true, false, undefined, '', 'A b', [], 'é', foo_bar]).

bin(Max) -> list_to_binary([int(256) || _ <- lists:seq(1, int(Max + 1))]).

bits(Max) ->
    N = int(Max + 1),
    <<(int(1 bsl (N + 1))):N>>.

string(Max) ->
    [one("abcdefgh XYZ0129,;.äöß€漢𝄞\n\t") || _ <- lists:seq(1, int(Max + 1))].

list(F, Max) -> [F() || _ <- lists:seq(1, int(Max + 1))].

%% A term of at most that depth.
term(0) ->
    case int(6) of
        0 -> integer();
        1 -> float();
        2 -> atom();
        3 -> bin(6);
        4 -> bits(20);
        5 -> small()
    end;
term(D) ->
    case int(8) of
        0 -> list_to_tuple(list(fun() -> term(D - 1) end, 4));
        1 -> maps:from_list(list(fun() -> {term(D - 1), term(D - 1)} end, 4));
        2 -> list(fun() -> term(D - 1) end, 5);
        3 -> [term(D - 1) | term(D - 1)];
        4 -> string(5);
        _ -> term(0)
    end.

%% Values of F(1) to F(N).
times(N, F) -> [F(I) || I <- lists:seq(1, N)].

%% One number for a term.
digest(Term) -> erlang:phash2(Term, 1 bsl 32).

%% Prints digests of slices of results; with DIFF_FULL=1 in the environment all
%% of them, so that a difference can be found.
digest(Label, Results) ->
    case os:getenv("DIFF_FULL") of
        false -> slices(Label, Results, 1);
        _ -> [io:format("~s: ~0tp~n", [Label, R]) || R <- Results]
    end.

slices(_, [], _) -> ok;
slices(Label, Results, I) ->
    {Slice, Rest} = lists:split(min(500, length(Results)), Results),
    io:format("~s ~p: ~p~n", [Label, I, digest(Slice)]),
    slices(Label, Rest, I + 1).
