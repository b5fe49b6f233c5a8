%% External terms that are damaged in one place or in several.
-module(hostile_etf).
-export([start/0, variant/0, run/2]).
-import(hostile, [below/1, pick/1]).

start() -> ok.

%% ---- what is done with one ----

%% What may be raised, and that a term which comes out is a whole one.
run(Bin, _) ->
    A = read(Bin, []),
    B = read(Bin, [safe]),
    case read(Bin, [used]) of
        {ok, {T, Used}} when Used =< byte_size(Bin) -> {ok, T1} = A, true = T =:= T1;
        error -> A = error
    end,
    case {A, B} of
        {{ok, X}, {ok, X}} -> whole(X), good;
        {{ok, X}, error} -> whole(X), good;
        {error, error} -> bad
    end.

read(Bin, Opts) ->
    try {ok, binary_to_term(Bin, Opts)}
    catch error:badarg -> error; error:system_limit -> error end.

whole(T) ->
    Bin = term_to_binary(T, [{minor_version, 2}]),
    true = is_size(erlang:external_size(T), term_to_binary(T), T),
    true = is_size(erlang:external_size(T, [{minor_version, 0}]), term_to_binary(T, [{minor_version, 0}]), T),
    true = T =:= binary_to_term(Bin),
    true = erlang:phash2(T) =:= erlang:phash2(binary_to_term(Bin)),
    true = erts_debug:flat_size(T) >= 0,
    self() ! T,
    receive X -> true = X =:= T end,
    true = is_list(io_lib:format("~0P", [T, 30])),
    _ = lists:sort([T, X, {T}, [X]]),
    ok.

%% external_size/1 promises an upper bound. As in OTP it is one where there is a fun, and else exact.
is_size(Size, Bin, T) ->
    case has_fun(T) of
        true -> Size >= byte_size(Bin);
        false -> Size =:= byte_size(Bin)
    end.
has_fun([X | Y]) -> has_fun(X) orelse has_fun(Y);
has_fun(T) when is_tuple(T) -> has_fun(tuple_to_list(T));
has_fun(M) when is_map(M) -> has_fun(maps:to_list(M));
has_fun(X) -> is_function(X).

%% ---- variants ----

variant() ->
    case below(10) of
        0 -> forged();
        1 -> compressed(damaged(plain(0)));
        2 -> damaged(term_to_binary(term(3), [{compressed, 1 + below(9)}]));
        3 -> damaged(<<131, 80, (edge()):32, (zlib:compress(plain_rest()))/binary>>);
        4 -> <<131, 80, (byte_size(plain_rest())):32, (damaged(zlib:compress(plain_rest())))/binary>>;
        N -> damaged(plain(N rem 3))
    end.

plain(Version) -> term_to_binary(term(1 + below(4)), [{minor_version, Version}]).
plain_rest() -> <<131, B/binary>> = plain(1), B.

compressed(<<_, B/binary>>) ->
    Size = pick([byte_size(B), byte_size(B), byte_size(B), byte_size(B) + 1, byte_size(B) - 1, 0, edge()]),
    <<131, 80, Size:32, (zlib:compress(B))/binary>>;
compressed(B) -> B.

edge() -> pick([0, 1, 2, 3, 127, 128, 255, 256, 65535, 65536, 1 bsl 24, 1 bsl 27, (1 bsl 31) - 1, 1 bsl 31, (1 bsl 32) - 1]).

damaged(B) -> damaged(1 + below(3) * below(2), B).

damaged(0, B) -> B;
damaged(N, B) -> damaged(N - 1, damage(below(9), B)).

damage(_, B) when byte_size(B) < 3 -> B;
damage(0, B) -> {X, _, Z} = at(1, B), <<X/binary, (below(256)), Z/binary>>;
damage(1, B) -> {X, <<O>>, Z} = at(1, B), <<X/binary, (O bxor (1 bsl below(8))), Z/binary>>;
damage(2, B) -> {X, _, Z} = at(1, B), <<X/binary, (tag()), Z/binary>>;
damage(3, B) when byte_size(B) > 4 -> {X, _, Z} = at(4, B), <<X/binary, (edge()):32, Z/binary>>;
damage(4, B) -> binary:part(B, 0, below(byte_size(B)));
damage(5, B) -> {X, Y, Z} = at(1 + below(byte_size(B) - 1), B), <<X/binary, Y/binary, Y/binary, Z/binary>>;
damage(6, B) -> {X, _, Z} = at(1 + below(byte_size(B) div 2), B), <<X/binary, Z/binary>>;
damage(7, B) -> {X, _, Z} = at(1, B), <<X/binary, (plain_rest())/binary, Z/binary>>;
damage(_, B) -> {X, _, Z} = at(2, B), <<X/binary, (edge()):16, Z/binary>>.

%% A piece of so many bytes, what is before it (the version byte at least) and behind it.
at(Size, B) ->
    Before = 1 + below(byte_size(B) - Size),
    <<X:Before/binary, Y:Size/binary, Z/binary>> = case byte_size(B) >= Before + Size of
                                                       true -> B;
                                                       false -> <<B/binary, 0:(Size * 8)>>
                                                   end,
    {X, Y, Z}.

tag() -> pick([68, 69, 70, 77, 80, 82, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 131]).

%% Few bytes that claim much, and forms that no one writes.
forged() ->
    E = edge(),
    B = pick([<<105, E:32>>, <<108, E:32>>, <<107, E:16>>, <<109, E:32>>, <<77, E:32, (below(10))>>, <<116, E:32>>,
              <<111, E:32, (below(3))>>, <<110, (below(256)), (below(3))>>, <<104, (below(256))>>, <<112, E:32, 3, 0:128, 1:32, E:32>>,
              <<117, E:32>>, <<90, E:16, 119, 1, $x, E:32, E:32>>, <<114, E:16, 119, 1, $x, (below(6)), E:32>>,
              <<101, 119, 1, $x, E:32, 1>>, <<88, 119, 13, "nonode@nohost", E:32, E:32, E:32>>, <<89, 119, 13, "nonode@nohost", E:32, 0:32>>,
              <<120, 119, 13, "nonode@nohost", E:64, 0:32>>, <<103, 119, 1, $x, E:32, E:32, 7>>, <<102, 119, 1, $x, E:32, 3>>,
              <<99, "1.0e999", 0:192>>, <<99, 255, 0:240>>, <<70, 255, 240, 0:48>>, <<113, 119, 1, $m, 119, 1, $f, 98, E:32>>,
              <<113, 119, 5, "lists", 119, 3, "map", 97, 2>>, <<82, (below(256))>>, <<68, 1, 2>>, <<100, E:16>>, <<118, 3:16, 255, 254, 253>>,
              <<98, E:32>>, <<115, 2, 233, 233>>]),
    Before = pick([<<>>, <<104, 2, 97, 1>>, <<108, 0, 0, 0, 2>>, <<116, 1:32, 97, 1>>, <<116, 2:32, 97, 1, 97, 2, 97, 1>>, binary:copy(<<104, 1>>, 1 + below(3000)), binary:copy(<<108, 1:32>>, 1 + below(3000))]),
    After = pick([<<>>, <<106>>, <<0>>, plain_rest(), binary:copy(<<106>>, below(70000)), binary:copy(<<97, 7>>, below(300)), rand:bytes(below(40))]),
    case below(4) of
        0 -> compressed(<<131, Before/binary, B/binary, After/binary>>);
        _ -> <<131, Before/binary, B/binary, After/binary>>
    end.

%% ---- terms to begin with ----

term(0) ->
    case below(14) of
        0 -> below(1 bsl 8);
        1 -> below(1 bsl 32) - (1 bsl 31);
        2 -> pick([1, -1]) * (1 bsl below(300) + below(3));
        3 -> 1 bsl (2030 + below(40));
        4 -> rand:normal() * 1.0e10;
        5 -> pick([a, ok, '', 'é', '漢', [], true, nonode@nohost]);
        6 -> rand:bytes(below(80));
        7 -> N = below(90), <<B:N/bitstring, _/bitstring>> = rand:bytes(20), B;
        8 -> "text " ++ lists:duplicate(below(10), $x);
        9 -> self();
        10 -> make_ref();
        11 -> fun lists:map/2;
        12 -> X = below(5), fun(Y) -> X + Y end;
        13 -> binary_to_term(pick([<<131, 88, 119, 3, "a@b", 1:32, 2:32, 3:32>>, <<131, 89, 119, 3, "a@b", 9:32, 3:32>>,
                                   <<131, 90, 3:16, 119, 3, "a@b", 3:32, 1:32, 2:32, 3:32>>, <<131, 90, 5:16, 119, 3, "a@b", 3:32, 1:32, 2:32, 3:32, 4:32, 5:32>>]))
    end;
term(D) ->
    case below(7) of
        0 -> list_to_tuple(terms(D));
        1 -> terms(D);
        2 -> maps:from_list([{term(D - 1), X} || X <- terms(D)]);
        3 -> [term(D - 1) | term(0)];
        4 -> maps:from_list([{N, term(0)} || N <- lists:seq(1, 28 + below(12))]);
        5 -> X = terms(D), fun() -> X end;
        6 -> term(0)
    end.
terms(D) -> [term(D - 1) || _ <- lists:seq(1, below(6))].
