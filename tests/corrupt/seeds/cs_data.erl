%% Lists, tuples, maps, selection, comparison, arithmetic.
-module(cs_data).
-export([rev/1, zip/2, sum/1, pairs/1, tup/2, set/2, upd/2, sel/1, selt/1, sels/1, cmp/2, arith/2,
         maps/2, mupd/1, many/8, deep/1, guards/2, rec/1, big/1, nested/2, tests/1, swap/3]).
-record(r, {a, b = 2, c = []}).

rev(L) -> rev(L, []).
rev([H | T], Acc) -> rev(T, [H | Acc]);
rev([], Acc) -> Acc.

zip([A | As], [B | Bs]) -> [{A, B} | zip(As, Bs)];
zip(_, _) -> [].

sum([H | T]) when is_integer(H) -> H + sum(T);
sum([H | T]) when is_float(H) -> H * 2.0 + sum(T);
sum([_ | T]) -> sum(T);
sum([]) -> 0.

pairs(L) -> [{X, Y} || X <- L, Y <- L, X < Y].

tup(N, T) when is_tuple(T), N > 0, N =< tuple_size(T) -> {element(N, T), tuple_size(T), T};
tup(_, {A, B, C}) -> {C, B, A};
tup(_, {A, B}) -> [A, B | {A}];
tup(_, _) -> none.

set(T, V) when tuple_size(T) > 4 ->
    T1 = setelement(1, T, V),
    T2 = setelement(3, T1, {V}),
    setelement(5, T2, [V]);
set(T, _) -> T.

upd(#r{a = A, b = B} = R, X) -> R#r{a = {A, X}, b = B + 1, c = [X]};
upd(#r{} = R, _) -> R.

sel(a) -> 1; sel(b) -> 2; sel(c) -> 3; sel(d) -> 4; sel(e) -> 5; sel(f) -> 6; sel(g) -> 7;
sel(1) -> a; sel(2) -> b; sel(300) -> c; sel(40000) -> d; sel(1 bsl 70) -> big; sel([]) -> nil;
sel(1.5) -> float; sel("text") -> text; sel(_) -> other.

selt({}) -> 0; selt({A}) -> A; selt({A, _}) -> A; selt({_, _, A}) -> A; selt({_, A, _, _}) -> A;
selt({_, _, _, _, A, _}) -> A; selt(_) -> none.

sels("abc") -> 1; sels([X]) when X > 3, X < 9; X == 3.0 -> X; sels([a | T]) -> sels(T); sels(_) -> 0.

cmp(A, B) ->
    [A < B, A =< B, A > B, A >= B, A == B, A /= B, A =:= B, A =/= B, {A, B} < {B, A}, [A] == [B]].

arith(A, B) ->
    try {A + B, A - B, A * B, A div B, A rem B, A band B, A bor B, A bxor B, bnot A, -A, A bsl 3,
         A bsr 2, A / B, abs(A), round(A / B), trunc(A / B)}
    catch error:E -> E end.

maps(K, V) ->
    M = #{K => V, a => 1, {K} => [V]},
    case M of
        #{a := 1, K := X} -> M#{K := [X], b => V};
        #{b := _} -> M
    end.

mupd(#{a := A, b := B} = M) -> {M#{a := B, b := A}, maps:get(a, M), is_map_key(c, M), map_size(M)};
mupd(#{} = M) when map_size(M) > 0 -> M#{new => M};
mupd(M) when is_map(M) -> M#{x => 1, y => 2, z => 3, u => #{v => M}};
mupd(_) -> no.

many(A, B, C, D, E, F, G, H) ->
    X = [A, B, C], Y = {D, E, F}, Z = #{g => G, h => H},
    many2({X, Y}, Z, [A | H], H, G, F, E, D).
many2(A, B, C, D, E, F, G, H) ->
    R = rev([A, B, C, D]),
    S = rev([E, F, G, H]),
    {R, S, A, H, [B | C]}.

deep(N) when N > 0 -> [N, deep(N - 1), {N}, deep(N - 2)];
deep(_) -> [].

guards(A, B) when is_list(A), length(A) > 2, hd(A) =:= B -> 1;
guards(A, B) when is_atom(A) orelse is_binary(A) andalso byte_size(A) > 3, is_integer(B) -> 2;
guards(A, B) when element(1, A) =:= B -> 3;
guards(A, _) when is_function(A, 1); is_function(A); is_pid(A); is_reference(A); is_port(A) -> 4;
guards(A, B) when is_boolean(A), not A, is_boolean(B); is_float(A), A > B -> 5;
guards(A, B) when is_map(A), map_get(B, A) =:= 1; bit_size(A) =:= B -> 6;
guards(A, B) -> if A > B -> 7; is_number(A) -> 8; true -> 9 end.

rec(#r{a = 1}) -> one;
rec(#r{b = B} = R) when B > 1 -> R#r.c;
rec(R) when is_record(R, r) -> R#r.b;
rec(_) -> element(2, setelement(2, #r{a = x}, y)).

big(N) -> N * 16#123456789ABCDEF0123456789 + (N bsl 65) - 1152921504606846976.

nested(A, B) ->
    case {rev(A), B} of
        {[X, Y | _], {P, Q}} when X =:= P -> {X, Y, Q};
        {[_ | T], {P, _}} -> case T of [] -> P; [Z] -> Z; _ -> nested(T, B) end;
        {[], _} -> B;
        _ -> error
    end.

tests(X) ->
    [is_list(X), is_tuple(X), is_atom(X), is_number(X), is_binary(X), is_bitstring(X), is_map(X),
     is_function(X), is_boolean(X), is_pid(X), X =:= [], X == 1, node() =:= X, self() =:= X].

swap(A, B, C) -> {P, Q} = sw(B, A), {R, S} = sw(C, P), [P, Q, R, S].
sw(A, B) -> case cmp(A, B) of [true | _] -> {A, B}; _ -> {B, A} end.
