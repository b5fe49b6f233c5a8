%% Maps in native code: keys known and unknown, flat maps and large ones, what is found and what is
%% not, and what is no map at all.
-module(map_native).
-export([main/0]).

main() ->
    Maps = [#{}, #{a => 1}, #{b => 2}, #{a => 1, b => 2, c => 3}, flat(32), flat(31), large(),
            not_a_map, [], {a, b}, <<"a">>, 1 bsl 70, 1.5, fun t:id/1],
    [look(M) || M <- Maps],
    [update(M) || M <- Maps],
    deep(),
    made(),
    same(),
    registers(),
    many().

%% What a call came to, large maps as their number of keys and a hash.
c(Fun) -> short(t:c(Fun)).
short(M) when map_size(M) > 32 -> {map_size(M), erlang:phash2(M)};
short({error, {Why, X}}) -> {error, {Why, short(X)}};
short(X) -> X.

flat(N) -> maps:from_list([{a, one}, {b, two} | [{{k, I}, I} || I <- lists:seq(3, N)]]).
large() -> maps:from_list([{a, one}, {b, two}, {c, three}, {1, x}, {1.0, y}, {"deep", z}
                           | [{{k, I}, I} || I <- lists:seq(1, 100)]]).

look(M) ->
    t:p([elements(M), absent(M), fields(M), c(fun() -> one(M) end), c(fun() -> get_b(M) end),
         c(fun() -> map_get(t:id(b), M) end), c(fun() -> is_map_key(t:id(b), M) end),
         c(fun() -> is_map_key(b, M) end), guards(M), c(fun() -> map_size(M) end),
         c(fun() -> variable(b, M) end), c(fun() -> variable({k, 3}, M) end),
         c(fun() -> variable(1, M) end), c(fun() -> variable(1.0, M) end)]).

elements(#{a := A, b := B}) -> {A, B};
elements(#{a := A}) -> A;
elements(#{}) -> none;
elements(_) -> other.

absent(#{zz := _}) -> there;
absent(#{[] := _}) -> nil;
absent(#{7 := _}) -> seven;
absent(_) -> absent.

fields(#{a := _, b := _}) -> both;
fields(#{b := _}) -> b;
fields(_) -> neither.

one(M) -> #{a := A} = M, A.
get_b(M) -> map_get(b, M).
variable(K, M) -> #{K := V} = M, V.

guards(M) when map_get(a, M) =:= 1 -> a_is_1;
guards(M) when is_map_key(a, M), map_get(a, M) =/= 1 -> a_is_other;
guards(M) when is_map_key(b, M) -> b;
guards(M) when not is_map_key(a, M) -> no_a;
guards(_) -> no_guard.

update(M) ->
    t:p([c(fun() -> M#{a := t:id(x)} end), c(fun() -> M#{b := t:id(x), a := y} end),
         c(fun() -> M#{a => t:id(x)} end), c(fun() -> M#{a => t:id(x), zz => y, b => z} end),
         c(fun() -> M#{zz := t:id(x), a := y, aa := z} end),
         c(fun() -> K = t:id(b), M#{K := x} end), c(fun() -> K = t:id({k, 5}), M#{K := x} end),
         c(fun() -> K = t:id({k, 5}), M#{K => x, a := 2} end),
         c(fun() -> M#{"deep" := x} end), c(fun() -> M#{1 := x} end),
         c(fun() -> M#{1.0 => x} end)]).

%% Keys that are no immediates, known to the compiler; 1 and 1.0 are two keys.
deep() ->
    Small = t:id(#{"key" => 1, <<"key">> => 2, {key, 1} => 3, 1 => 4, 1.0 => 5, (1 bsl 70) => 6}),
    Large = maps:merge(Small, maps:from_list([{I, I} || I <- lists:seq(1000, 1100)])),
    [begin
         #{"key" := A, <<"key">> := B, {key, 1} := C, 1 := D, 1.0 := E, (1 bsl 70) := F} = M,
         t:p([A, B, C, D, E, F]),
         t:p([case M of #{"yek" := _} -> yes; _ -> no end, case M of #{2 := _} -> yes; _ -> no end,
              case M of #{2.0 := _} -> yes; _ -> no end, is_map_key(<<"key">>, M),
              is_map_key(<<"yek">>, M), map_get({key, 1}, M),
              case M of #{"key" := _, <<"none">> := _} -> yes; #{<<"key">> := _} -> second end]),
         t:p(maps:with(["key", <<"key">>, {key, 1}, 1, 1.0],
                       M#{"key" := a, <<"key">> => b, 1 := c, 1.0 := d}))
     end || M <- [Small, Large]].

%% New maps: of keys in any order, twice the same, of all kinds, none, up to 32 and beyond.
made() ->
    {A, B} = {t:id(1), t:id(2)},
    t:p(#{z => A, a => B, m => A, 5 => B, [] => A, -3 => B}),
    t:p(#{z => A, z => B}),
    t:p(#{z => A, 1.0 => B, 1 => A}),
    t:p(#{{A} => B, b => A}),
    M = #{k01 => A, k02 => A, k03 => A, k04 => A, k05 => A, k06 => A, k07 => A, k08 => A,
          k09 => A, k10 => A, k11 => A, k12 => A, k13 => A, k14 => A, k15 => A, k16 => A,
          k17 => A, k18 => A, k19 => A, k20 => A, k21 => A, k22 => A, k23 => A, k24 => A,
          k25 => A, k26 => A, k27 => A, k28 => A, k29 => A, k30 => A, k31 => B, k00 => B},
    t:p(M),
    t:p(maps:size(M#{k99 => A})),
    N = #{k01 => A, k02 => A, k03 => A, k04 => A, k05 => A, k06 => A, k07 => A, k08 => A,
          k09 => A, k10 => A, k11 => A, k12 => A, k13 => A, k14 => A, k15 => A, k16 => A,
          k17 => A, k18 => A, k19 => A, k20 => A, k21 => A, k22 => A, k23 => A, k24 => A,
          k25 => A, k26 => A, k27 => A, k28 => A, k29 => A, k30 => A, k31 => B, k00 => B, k32 => A},
    t:p([maps:size(N), map_get(k31, N), M =:= maps:remove(k32, N), N =:= M#{k32 => A}]),
    t:p([#{a => X, b => [X]} =:= maps:from_list([{b, [X]}, {a, X}]) || X <- [1, 1.0, [], N]]).

%% An update by the same value is the same map.
same() ->
    M = t:id(#{a => [1], b => [2]}),
    #{a := A, b := B} = M,
    t:p([erts_debug:same(M, M#{a := A}), erts_debug:same(M, M#{a := A, b := B}),
         erts_debug:same(M, M#{a := A, b := A}), erts_debug:same(M, M#{a := [1]}), M]).

%% A destination that is the map's own register, or the key's.
registers() ->
    t:p([swap({k, I}, #{{k, I} => I, a => b, b => I}) || I <- [1, 2]]),
    t:p(chain(#{a => #{a => #{a => #{a => last}}}})).
swap(K, M) -> #{a := B, K := V} = M, #{B := W} = M, {V, W, B}.
chain(#{a := M}) -> chain(M);
chain(X) -> X.

%% Updates that have to collect, with all that lives through it.
many() ->
    M = many(20000, #{a => 0, b => [], c => start}, {kept, [t:id(1)]}),
    #{a := A, b := B, c := C} = M,
    t:p({A, length(B), C}),
    t:p(erlang:phash2(grow(3000, #{}))).
many(0, M, {kept, [1]}) -> M;
many(N, #{a := A, b := B} = M, Kept) ->
    many(N - 1, M#{a := A + 1, b => [N | lists:sublist(B, 50)], c := {N, A}}, Kept).
grow(0, M) -> M;
grow(N, M) -> grow(N - 1, M#{N rem 40 => [N], N => map_size(M#{a => N, 5 => b})}).
