%% since 27
%% What the merge of two small maps shares with them: a map that has all keys and comes second is the
%% result, and the keys of the result are those of a map that has them all.
-module(since27_map_merge_shared).
-export([main/0]).

main() ->
    A = t:id(#{1 => 1}),
    B = t:id(#{1 => 2, 2 => 3}),
    C = t:id(#{2 => x, 3 => y}),
    Empty = t:id(#{}),
    Full = t:id(maps:from_list([{I, I} || I <- lists:seq(1, 32)])),
    Some = t:id(maps:from_list([{I, -I} || I <- lists:seq(3, 32, 4)])),
    t:p([{I, merged(X, Y)} || {I, {X, Y}} <- lists:enumerate(
        [{A, Empty}, {Empty, A}, {Empty, Empty},
         {A, B}, {B, A}, {B, C}, {C, B}, {A, C},
         {B, t:id(#{1 => 2, 2 => z})}, {B, t:id(#{2 => z, 1 => 5})},
         {t:id(#{1 => a, 1.0 => b}), t:id(#{1 => c})}, {t:id(#{1 => c}), t:id(#{1 => a, 1.0 => b})},
         {t:id(#{1 => c}), t:id(#{1.0 => b})},
         {Full, Some}, {Some, Full}, {Full, t:id(#{z => 1})}, {t:id(#{z => 1}), Full}, {Some, B}])]).

%% The merged map; whether it is one of the two; words of it that are not theirs.
merged(X, Y) ->
    M = maps:merge(X, Y),
    Own = erts_debug:size({X, Y, M}) - erts_debug:size({X, Y, a}),
    {M =:= maps:fold(fun maps:put/3, X, Y), maps:size(M), shown(M), erts_debug:same(M, X), erts_debug:same(M, Y),
     case maps:size(M) > 32 of true -> large; false -> Own end}.

shown(M) when map_size(M) > 4 -> large;
shown(M) -> M.
