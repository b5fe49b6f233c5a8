%% Prints what OTP answers to calls on terms and numbers: each line of the file is the length and
%% the external form of {Module, Function, Args, Answer}.
-module(terms).
-export([main/1]).

main([Out]) ->
    rand:seed(exsss, {4, 5, 6}),
    Calls = lists:append([fixed(), [random() || _ <- lists:seq(1, 20000)]]),
    ok = file:write_file(Out, [case_of(C) || C <- Calls]),
    halt().

case_of({M, F, A}) ->
    %% How far map_next/3 goes depends on the reductions left: start with a full turn.
    erlang:yield(),
    R = try {ok, apply(M, F, A)} catch Class:Reason -> {Class, Reason} end,
    B = term_to_binary({M, F, A, R}),
    [<<(byte_size(B)):32>>, B].

n(N) -> rand:uniform(N + 1) - 1.
pick(L) -> lists:nth(rand:uniform(length(L)), L).
times(N, F) -> [F() || _ <- lists:seq(1, N)].

fixed() ->
    Edges = [0, -1, 1, 1 bsl 59, (1 bsl 59) - 1, -(1 bsl 59), -(1 bsl 59) - 1, 1 bsl 64, -(1 bsl 64),
             (1 bsl 53) + 1, 1.0, -0.0, 0.0, 1.0e22, 9007199254740993, 9007199254740992.0, 1.0e308,
             5.0e-324, 1 bsl 1024, 18446744073709551616.0, 1.5, -2.5, a],
    [{erlang, Op, [X, Y]} || Op <- ['+', '-', '*', '/', 'div', 'rem', '==', '=:=', '<', '=<', '>',
                                    '>=', 'band', 'bor', 'bxor', min, max],
                             X <- Edges, Y <- Edges]
        ++ [{erlang, Op, [X]} || Op <- ['-', '+', 'bnot', abs, float, round, trunc, floor, ceil],
                                 X <- Edges]
        ++ [{erlang, float_to_list, [F, O]}
            || F <- [0.0, -0.0, 1.0, 0.1, 123.456, 1.0e15, 1.0e16, 9.9999, 0.05, 0.5, 2.5, 1.0e300,
                     1.005, 0.000123, 123456789.125, 4.35, -1.5, 1.0e22],
               O <- [[], [short], [compact], [{decimals, 0}], [{decimals, 1}], [{decimals, 2}],
                     [{decimals, 2}, compact], [{decimals, 10}, compact], [{decimals, 18}],
                     [{decimals, 19}], [{decimals, 253}], [{decimals, 260}], [{decimals, -1}],
                     [{scientific, 0}], [{scientific, 3}], [{scientific, 20}, compact],
                     [{scientific, 249}], [{scientific, 260}], [{scientific, -1}], [bad]]]
        ++ [{M, F, [S]} || {M, F} <- [{erlang, list_to_float}, {string, list_to_float},
                                      {string, list_to_integer}, {erlang, list_to_integer}],
                           S <- ["1.0", "1", "1.", ".5", "+1.5", "-1.5e3", "1.5e", "1.5e+", "1.5x",
                                 "12x", "+-1", "", "1,5", "1.0e400", "1.0e-400", "-0.0", "1.5E2 ",
                                 "--1", "+12", "1_000", [1.5], [$1 | $2], abc, "1e5", "-"]]
        ++ [{erlang, integer_to_list, [I, B]} || I <- [0, 255, -255, 1 bsl 100], B <- [1, 2, 16, 36, 37]]
        ++ [{erlang, phash2, [T]} || T <- [[], {}, #{}, a, 'å', '日本', -1, 134217727, 134217728,
                                           -134217728, -134217729, <<>>, <<1:3>>, "", "abcd", "abc",
                                           [[]], [a | b]]]
        ++ [{math, F, [X]} || F <- [sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh,
                                    atanh, exp, log, log2, log10, sqrt, erf, erfc, ceil, floor],
                              X <- [0, 1, -1, 0.5, 2, 3.7, -3.2, 1.0e10, 710, a]].

random() ->
    case n(40) of
        0 -> {erlang, phash2, [term(4)]};
        1 -> {erlang, phash2, [term(3), pick([1, 10, 1 bsl 32, 1 bsl 27, 0, a])]};
        2 -> {erlang, phash, [term(4), pick([1, 1000, 1 bsl 32, 0])]};
        3 -> {maps, keys, [map()]};
        4 -> {maps, values, [map()]};
        5 -> {maps, put, [key(), 1, map()]};
        6 -> {maps, remove, [key(), map()]};
        7 -> {maps, take, [key(), map()]};
        8 -> {maps, merge, [map(), map()]};
        9 -> {maps, from_list, [pick([times(n(60), fun() -> {key(), n(9)} end), [a], x])]};
        10 -> {maps, from_keys, [times(n(60), fun key/0), v]};
        11 -> {maps, update, [key(), 1, map()]};
        12 -> {maps, find, [key(), pick([map(), x])]};
        %% Of more keys OTP may answer a part, by the reductions that are left.
        13 -> {erts_internal, map_next, [0, map(60), pick([iterator, [], [x]])]};
        14 -> {erlang, pick(['<', '==', '=:=', '>=']), [term(3), term(3)]};
        15 -> {erts_internal, cmp_term, [term(2), term(2)]};
        16 -> {erlang, '--', [times(n(40), fun small/0), times(n(30), fun small/0)]};
        17 -> {erlang, '++', [pick([times(n(9), fun small/0), [a | b], x]), term(1)]};
        18 -> {lists, reverse, [pick([times(n(9), fun small/0), [a | b], x]), term(1)]};
        19 -> {lists, member, [small(), pick([times(n(9), fun small/0), [a | b], x])]};
        20 -> {lists, pick([keyfind, keymember, keysearch]),
               [small(), pick([0, 1, 2, a]),
                pick([[pick([{small()}, {small(), small()}, x]) || _ <- lists:seq(1, n(9))], x])]};
        21 -> {erlang, float_to_list, [float_(), [short]]};
        22 -> {erlang, float_to_binary, [float_(), [{decimals, n(20)} | pick([[], [compact]])]]};
        23 -> {erlang, float_to_list, [float_()]};
        24 -> {erlang, integer_to_binary, [int(), 2 + n(34)]};
        25 -> {erlang, list_to_integer, [integer_to_list(int(), 16), 16]};
        26 -> {erlang, binary_to_integer, [integer_to_binary(int())]};
        27 -> {erlang, binary_to_float, [float_to_binary(float_())]};
        28 -> {erlang, pick(['+', '-', '*', 'div', 'rem', 'band', 'bor', 'bxor', '/']), [int(), int()]};
        29 -> {erlang, pick(['bsl', 'bsr']), [int(), n(300) - 150]};
        30 -> {erlang, pick(['<', '==', '>']), [int(), float_()]};
        31 -> {erlang, pick([round, trunc, floor, ceil]), [float_()]};
        32 -> {erlang, setelement, [n(4), list_to_tuple(times(n(4), fun small/0)), x]};
        33 -> {erlang, insert_element, [n(5), list_to_tuple(times(n(4), fun small/0)), x]};
        34 -> {erlang, delete_element, [n(5), list_to_tuple(times(n(4), fun small/0))]};
        35 -> {erlang, make_tuple, [pick([n(5), a, -1]), d, [{n(5), small()} || _ <- lists:seq(1, n(2))]]};
        36 -> {erlang, element, [n(4), pick([list_to_tuple(times(n(4), fun small/0)), x])]};
        37 -> {erlang, pick([length, hd, tl, size, byte_size, bit_size, tuple_size, map_size,
                             is_list, is_map, is_binary, is_integer, is_number]), [term(2)]};
        38 -> {erlang, pick([is_map_key, map_get]), [key(), pick([map(), x])]};
        39 -> {erlang, atom_to_binary, [pick([a, 'å', '日本']), pick([utf8, latin1, unicode, x])]};
        40 -> {erlang, is_record, [pick([{a, 1}, {b}, {}, x]), pick([a, b, 1]), pick([1, 2, a, -1])]}
    end.

small() -> pick([1, 1.0, 2, a, b, {1}, "x", 0, [], <<"b">>, 1 bsl 70, {1.0}]).
int() ->
    I = rand:uniform(1 bsl pick([4, 28, 59, 60, 64, 128, 640])),
    pick([I, -I]).
float_() ->
    <<F:64>> = <<(rand:uniform(1 bsl 64) - 1):64>>,
    case <<F:64>> of
        <<X/float>> -> pick([X, n(100000) / pick([1, 10, 100, 1000, 7]), n(1 bsl 60) * 1.0,
                             math:pow(10, n(40) - 20), -n(1000) / 8]);
        _ -> 1.0
    end.
key() -> pick([n(50), n(9) + 0.0, [$a + n(25) || _ <- lists:seq(1, n(6))], <<(n(50))>>, {n(9), n(3)},
               1 bsl (58 + n(9)), [n(9), {n(9)}], -n(400000000)]).
map() -> map(400).
map(Most) ->
    Sizes = [N || N <- [0, 3, 20, 33, 40, 100, 400], N =< Most],
    maps:from_list(times(pick(Sizes), fun() -> {key(), n(9)} end)).

term(0) -> pick([int(), float_(), a, 'å', "abc", <<1, 2, 3>>, [], {}, n(255), -n(300000000), <<5:3>>, <<"hello world, hello">>]);
term(D) ->
    R = fun() -> term(D - 1) end,
    case n(6) of
        0 -> times(n(4), R);
        1 -> list_to_tuple(times(n(4), R));
        2 -> [R() | R()];
        3 -> maps:from_list(times(n(5), fun() -> {R(), R()} end));
        4 -> [R()];
        5 -> "string" ++ times(n(3), R);
        6 -> term(0)
    end.
