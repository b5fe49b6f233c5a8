%% What native code does itself of matching and building: every size about a
%% byte's and a word's bounds, at even and uneven places, on all kinds of
%% binaries, and what has to go elsewhere.
-module(bits_inline).
-export([main/0]).

-define(GET(N), fun(B) -> get(B,
    fun(<<X:N, R/bits>>) -> {X, R}; (_) -> no end,
    fun(<<X:N/signed, R/bits>>) -> {X, R}; (_) -> no end,
    fun(<<X:N/little, R/bits>>) -> {X, R}; (_) -> no end,
    fun(<<X:N/little-signed, R/bits>>) -> {X, R}; (_) -> no end) end).

-define(PUT(N), fun(X, B) -> put(
    fun() -> <<X:N>> end, fun() -> <<X:N/little>> end,
    fun() -> <<1:1, X:N, 5:3>> end, fun() -> <<B/bits, X:N>> end,
    fun() -> <<B/bits, 7, X:N/little, 3:4, X:4, X:N>> end,
    fun() -> <<"ab", X:N, X:8, "cde", X:N/little>> end) end).

main() ->
    Binaries = binaries(),
    show(get, [[G(B) || B <- Binaries] || G <- getters()]),
    Numbers = [0, 1, -1, 127, 128, 255, 256, -129, 16#12345678, -16#12345678, 16#123456789abcdef,
               (1 bsl 59) - 1, -(1 bsl 59), 1 bsl 59, 1 bsl 63, 1 bsl 70, -(1 bsl 70), 1.5, a, <<1>>],
    show(put, [[P(X, B) || X <- Numbers, B <- [<<>>, <<9>>, <<5:3>>, hd(Binaries), x]] || P <- putters()]),
    show(parts, [parts(B) || B <- Binaries]),
    show(sized, [sized(N, B) || N <- [0, 1, 3, 8, 64, 65, 300, -1, 1 bsl 58, 1 bsl 70, a], B <- Binaries]),
    show(part, [part(B, P, N) || B <- [x | Binaries], P <- [0, 1, 2, 7, 64, 66, 300, -1, 1 bsl 59, a],
                                 N <- [0, 1, 8, 9, 62, 64, 65, 136, 200, -1, -3, 1 bsl 59, b]]),
    show(strings, [strings(B) || B <- Binaries ++ [<<"abcdefgh rest">>, <<"abc">>, <<1:3, "abcdefgh">>]]),
    show(floats, [floats(B) || B <- Binaries ++ [<<127, 128, 0, 0, 255, 240, 0, 0, 0, 0, 0, 0>>]]),
    show(float_put, [float_put(X) || X <- [0.0, -0.0, 1.5, 1.0e38, 3.5e38, 1.0e300, 5.0e-324, 7, a]]),
    show(utf8, utf8s(Binaries)),
    show(joined, [joined(A, B) || A <- [<<>>, x | Binaries], B <- [<<>>, 7 | Binaries]]),
    io:format("~p~n", [[shared(), in_place(), sent(), registers(<<1, 2, 3, 4>>), registers(<<1, 2>>)]]),
    [io:format("~p~n", [fails(F)]) || F <- failing()],
    io:format("~p~n", [[collected(W) || W <- [233, 400, 5000]]]),
    io:format("~p~n", [[limited(F) || F <- [contexts, appends, pieces]]]).

show(What, Terms) -> io:format("~p ~p~n", [What, erlang:phash2(Terms, 1 bsl 32)]).

getters() ->
    [?GET(1), ?GET(2), ?GET(3), ?GET(5), ?GET(7), ?GET(8), ?GET(9), ?GET(12), ?GET(15), ?GET(16), ?GET(17),
     ?GET(23), ?GET(24), ?GET(25), ?GET(31), ?GET(32), ?GET(33), ?GET(40), ?GET(47), ?GET(48), ?GET(49),
     ?GET(55), ?GET(56), ?GET(57), ?GET(58), ?GET(59), ?GET(60), ?GET(61), ?GET(63), ?GET(64), ?GET(65),
     ?GET(72), ?GET(128), ?GET(0)].
putters() ->
    [?PUT(0), ?PUT(1), ?PUT(2), ?PUT(4), ?PUT(7), ?PUT(8), ?PUT(9), ?PUT(12), ?PUT(16), ?PUT(20), ?PUT(24),
     ?PUT(28), ?PUT(31), ?PUT(32), ?PUT(36), ?PUT(40), ?PUT(44), ?PUT(48), ?PUT(52), ?PUT(56), ?PUT(57),
     ?PUT(59), ?PUT(60), ?PUT(61), ?PUT(63), ?PUT(64), ?PUT(65), ?PUT(72), ?PUT(100)].

get(B, F1, F2, F3, F4) ->
    Tails = case B of
        <<_:3, T/bits>> -> [B, T];
        _ -> [B]
    end,
    [[F(T) || T <- Tails] || F <- [F1, F2, F3, F4]].
put(F1, F2, F3, F4, F5, F6) -> [fails(F) || F <- [F1, F2, F3, F4, F5, F6]].

%% On the heap, off it, a literal, parts of them at even and uneven places.
binaries() ->
    Long = << <<(I * 37):8>> || I <- lists:seq(1, 200) >>,
    Short = list_to_binary(lists:seq(200, 230)),
    <<_:11, Uneven:501/bits, _/bits>> = Long,
    <<_:4, Even:160/bits, _/bits>> = Short,
    Grown = <<Long/binary, 255, 254, 253>>,
    [Long, Short, Uneven, Even, Grown, <<>>, <<1:1>>, <<0:7>>, <<128>>, <<127, 255, 255>>,
     <<255, 255, 255, 255, 255, 255, 255, 255>>, <<8, 0, 0, 0, 0, 0, 0, 0, 1>>,
     <<7, 255, 255, 255, 255, 255, 255, 255>>, <<248, 0, 0, 0, 0, 0, 0, 0>>, binary:part(Long, 3, 150),
     binary:part(Short, 1, 9), <<"caf\303\251 \342\202\254 \360\237\230\200 ", 195>>].

parts(B) ->
    [parts(B, B, []),
     case B of <<X:3/binary, Y:5/binary, Z/binary>> -> {X, Y, Z}; <<X:9/bits, Y:2/bits, Z/bits>> -> {X, Y, Z}; _ -> no end,
     case B of <<X:64/binary, Y:65/binary, Z/binary>> -> {X, Y, Z, binary:referenced_byte_size(Y)}; _ -> no end,
     case B of <<_:5, X:8/binary, Z/bits>> -> {X, Z}; _ -> no end,
     case B of <<_:16, X/binary-unit:16>> -> X; <<_:8, X/binary-unit:32>> -> {32, X}; _ -> no end,
     case B of <<_:12/binary, X/binary-unit:3>> -> X; <<_, X/binary-unit:5>> -> {5, X}; _ -> no end,
     case B of <<X:8/binary-unit:3, Z/binary>> -> {X, Z}; _ -> no end].
parts(<<X:7, Y:2/binary, R/bits>>, B, All) -> parts(R, B, [X, Y | All]);
parts(<<X:1/binary, R/bits>>, B, All) -> parts(R, B, [X | All]);
parts(R, B, All) -> {R, bit_size(B), All}.

sized(N, B) ->
    [case B of <<_:N, X:8, _/bits>> -> X; _ -> no end,
     case B of <<X:N/binary, R/bits>> -> {X, R}; _ -> no end,
     case B of <<_:N/binary, X:3, R:N/bits, _/bits>> -> {X, R}; _ -> no end,
     case B of <<_:N/binary-unit:3, R/bits>> -> R; _ -> no end,
     case B of <<X:N/integer-little, R/bits>> -> {X, R}; _ -> no end].

part(B, P, N) ->
    [fails(fun() -> binary_part(B, P, N) end),
     if binary_part(B, P, N) =:= <<>> -> empty; bit_size(binary_part(B, P, N)) > 8 -> more; true -> no end,
     fails(fun() -> binary:referenced_byte_size(binary_part(B, P, N)) end)].

strings(<<"abcdefghi", R/bits>>) -> {9, R};
strings(<<"abcdefgh", R/bits>>) -> {8, R};
strings(<<"abcdefx", R/bits>>) -> {7, R};
strings(<<200, 201, 202, 203, 204, 205, 206, R/bits>>) -> {7, R};
strings(<<37, 74, 111, 148, 185, R/bits>>) -> {5, R};
strings(<<255, 255, 255, R/bits>>) -> {3, R};
strings(<<1:3, "abc", R/bits>>) -> {uneven, R};
strings(<<"caf", 195, R/bits>>) -> {4, R};
strings(<<1:1, 0:6, R/bits>>) -> {bits, R};
strings(<<127, 255, R/bits>>) -> {2, R};
strings(<<"a", R/bits>>) -> {1, R};
strings(R) -> R.

floats(<<_, X:32/float, R/bits>> = B) -> [X, R | floats64(B)];
floats(<<_, X:32/float-little, R/bits>> = B) -> [little, X, R | floats64(B)];
floats(B) -> floats64(B).
floats64(<<_:3, X:64/float-little, _/bits>>) -> [X];
floats64(<<X:64/float, _/bits>>) -> [X];
floats64(<<X:16/float, _/bits>>) -> [X];
floats64(_) -> [].

float_put(X) ->
    [fails(F) || F <- [fun() -> <<X:32/float>> end, fun() -> <<X:64/float-little, 1>> end,
                       fun() -> <<1, X:32/float-little, X:64/float>> end, fun() -> <<X:16/float>> end,
                       fun() -> <<1:3, X:32/float, 2:5>> end]].

utf8s(Binaries) ->
    Chars = [0, $a, 16#7f, 16#80, 16#7ff, 16#800, 16#d7ff, 16#d800, 16#dfff, 16#e000, 16#ffff, 16#10000,
             16#10ffff, 16#110000, -1, 1 bsl 40, 1 bsl 70, x, 1.0],
    [[fails(fun() -> <<A/utf8>> end), fails(fun() -> <<"x", A/utf8, B/utf8, A:16/little-signed>> end),
      fails(fun() -> <<(hd(Binaries))/binary, A/utf8, 1:7, 0:1>> end), fails(fun() -> <<1:1, A/utf8>> end)]
     || A <- Chars, B <- [$b, 16#20ac, 16#1f600]] ++
        [chars(B, []) || B <- Binaries ++ bad()] ++ [skipped(B, 0) || B <- Binaries ++ bad()] ++
        [chars(R, []) || <<_:5, R/bits>> <- Binaries].
bad() ->
    [list_to_binary(L) || L <- [[192, 128], [193, 191], [194], [194, 65], [224, 159, 191], [224, 160, 128],
                                [237, 159, 191], [237, 160, 128], [240, 143, 191, 191], [240, 144, 128, 128],
                                [244, 143, 191, 191], [244, 144, 128, 128], [245, 128, 128, 128], [226, 130],
                                [240, 159, 152], [97, 226, 40, 161]]] ++ [<<97, 226, 130, 5:4>>, <<194, 16:5>>].
chars(<<C/utf8, R/bits>>, All) -> chars(R, [C | All]);
chars(R, All) -> {R, All}.
skipped(<<_/utf8, R/bits>>, N) -> skipped(R, N + 1);
skipped(R, N) -> {R, N}.

joined(A, B) ->
    [fails(F) || F <- [fun() -> <<A/binary, B/binary>> end, fun() -> <<"x", A/binary, $:, B/binary>> end,
                       fun() -> <<A/bits, B/bits, 1:3>> end, fun() -> <<7:16, A/binary, A/binary, 5:24/little>> end,
                       fun() -> <<A/binary-unit:4, B/binary-unit:16>> end, fun() -> <<A:2/binary, B:9/bits, 1>> end,
                       fun() -> << <<X, 1>> || <<X>> <= B >> end, fun() -> << <<A/binary>> || <<_:100>> <= B >> end]].

%% Two that grow from one: neither sees the other's bytes.
shared() ->
    A = grow(<<>>, 300),
    B = <<A/binary, 1, 2, 3>>,
    C = <<A/binary, 4, 5>>,
    D = <<B/binary, 6>>,
    <<_:299/binary, Rest/binary>> = C,
    E = <<C/binary, 7:16>>,
    F = <<C/binary, 8>>,
    [binary:part(X, byte_size(X), -6) || X <- [A, B, C, D, E, F]] ++ [Rest, byte_size(A)].
grow(B, 0) -> B;
grow(B, N) -> grow(<<B/binary, N>>, N - 1).

%% One that is matched on keeps its bytes where they are.
in_place() -> in_place(<<0>>, 400, []).
in_place(B, 0, All) -> {byte_size(B), erlang:phash2(B), erlang:phash2(All)};
in_place(B, N, All) ->
    <<X, R/binary>> = B,
    New = <<B/binary, N:8, (byte_size(R)):16/little, X>>,
    in_place(New, N - 1, [{X, R} | All]).

sent() ->
    A = grow(<<>>, 200),
    Self = self(),
    {P, M} = spawn_monitor(fun() -> receive B -> Self ! {<<B/binary, 1>>, <<B/binary, 2>>} end end),
    P ! A,
    C = <<A/binary, 3>>,
    receive {'DOWN', M, _, _, R} -> R end,
    receive {D, E} -> [binary:last(X) || X <- [A, C, D, E]] end.

%% A match that fails leaves what the next clause needs.
registers(B) -> registers(B, make_ref(), [1], {2}, 3.0, <<"four">>).
registers(<<A:16, B:16/little, C:8, _/bits>>, _, _, _, _, _) -> {A, B, C};
registers(<<A:2/binary, B:1/binary, C:64/float, _/bits>>, _, _, _, _, _) -> {A, B, C};
registers(<<A:8, B:24/bits>> = All, R, L, T, F, Four) -> {A, B, All, is_reference(R), L, T, F, Four};
registers(All, R, L, T, F, Four) -> {All, is_reference(R), L, T, F, Four}.

fails(F) ->
    try F()
    catch error:R:Stack -> {_, _, _, Info} = hd(Stack),
        {R, [{K, maps:get(cause, V, none)} || {K = error_info, V} <- Info]}
    end.
failing() ->
    B = hd(binaries()),
    [A, F, M, T, Big] = [id(X) || X <- [a, 1.5, -1, {1}, 1 bsl 64]],
    [fun() -> <<A:8>> end, fun() -> <<1, F:16, A:8>> end, fun() -> <<B/binary, 1, A/utf8>> end,
     fun() -> <<A/binary, 1>> end, fun() -> <<1, A/binary>> end, fun() -> <<1, B:M/binary>> end,
     fun() -> <<1, B:T/binary>> end, fun() -> <<1:Big>> end, fun() -> <<B/binary, 1:M>> end,
     fun() -> <<"abc", A:32/float>> end, fun() -> <<(id(<<1:3>>))/binary, 7>> end,
     fun() -> <<7, (id(<<1:3>>))/binary>> end, fun() -> <<B:201/binary, 1>> end,
     fun() -> <<1:4, (id(16#d800))/utf8>> end].
id(X) -> X.

%% Small heaps, so that they are collected in the middle.
collected(Words) ->
    Records = << <<I:8, (I / 4):64/float, I:16, (I / 2):32/float-little>> || I <- lists:seq(1, 1000) >>,
    Work = fun() -> exit({work(3000, binaries(), [], <<>>), records(Records, 0.0)}) end,
    {P, M} = spawn_opt(Work, [monitor, {min_heap_size, Words}]),
    receive {'DOWN', M, _, P, R} -> R end.
%% Nothing but floats is made.
records(<<_:8, X:64/float, N:16, Y:32/float-little, R/bits>>, Sum) when N * 3 == X * 4 + Y * 4 ->
    records(R, Sum + X);
records(R, Sum) -> {bit_size(R), Sum}.

work(0, _, Kept, B) -> {erlang:phash2(Kept), byte_size(B), erlang:phash2(B)};
work(N, [B | Bs], Kept, Grown) ->
    New = [N | lists:sublist(Kept, 50)],
    More = case B of
        <<X:5/binary, Y:32/float, Z:3/binary, R/bits>> -> [X, Y, Z, bit_size(R), <<Z/binary, X/binary, Y:64/float>> | New];
        <<X:2/binary, _/bits>> -> [X, <<N:32, X/binary>> | New];
        _ -> New
    end,
    Floats = case B of
        <<X1:8, Y1:64/float, _/bits>> -> [X1, Y1 | More];
        <<X1:3, _:5, Y1:32/float-little, _/bits>> -> [X1, Y1 | More];
        _ -> More
    end,
    Next = case Grown of
        <<_:2000/binary, Tail/binary>> -> <<Tail/binary, N:16>>;
        _ -> <<Grown/binary, N:16, (N rem 2000)/utf8, N:24/little>>
    end,
    work(N - 1, Bs ++ [B], Floats, Next).

%% A process that may not have that much ends.
limited(What) ->
    Limits = #{size => 20000, kill => true, error_logger => false},
    {P, M} = spawn_opt(fun() -> hold(What, hd(binaries()), []) end, [monitor, {max_heap_size, Limits}]),
    receive {'DOWN', M, _, P, R} -> {What, R} end.
hold(contexts, B, Kept) ->
    <<X:3/binary, _/binary>> = B,
    hold(contexts, B, [X | Kept]);
hold(appends, B, Kept) ->
    hold(appends, B, [<<B/binary, 1>> | Kept]);
hold(pieces, B, Kept) ->
    hold(pieces, B, [<<(length(Kept) rem 7):32, "abc">> | Kept]).
