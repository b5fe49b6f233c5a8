%% Vectors of a native function, `ErlNifIOVec`, whose structure is gone before its environment is: it mostly is a
%% local variable.
-module(nif_vectors).
-export([main/0, inspect/2, inspect_dirty/2, keep/2, keep_dirty/2, queue/1, queue_dirty/1]).
-nifs([inspect/2, inspect_dirty/2, keep/2, keep_dirty/2, queue/1, queue_dirty/1]).

main() ->
    "" = build(),
    ok = erlang:load_nif(filename:rootname(tmp()), []),
    Large = binary:copy(<<"large ">>, 1000),
    <<_:3, Shifted:100/binary, _/bits>> = Large,
    <<_:5/binary, Part:90/binary, _/bits>> = Large,
    Lists = [[], [<<>>], [<<"a">>], [<<>>, <<"bc">>, <<>>, Large], [Large, Shifted, Part, <<"d">>],
             [<<I>> || I <- lists:seq(1, 15)], [<<I>> || I <- lists:seq(1, 16)],
             [binary:part(Large, I, 70) || I <- lists:seq(1, 40)],
             [<<"a">> | <<"b">>], [<<"a">>, b], [<<"a">>, "b"], [<<1:1>>], [<<1, 2, 3:4>>, <<Large/binary, 1:1>>], <<"a">>, a, [a]],
    [t:p({Fun, number(List, Lists), Most, said(Fun, [List, Most])})
     || Fun <- [inspect, inspect_dirty, keep, keep_dirty], List <- Lists, Most <- [0, 1, 2, 64]],
    [t:p({Fun, number(List, Lists), said(Fun, [List])}) || Fun <- [queue, queue_dirty], List <- Lists],
    [inspect_dirty([Large, <<"small">>], 64) || _ <- lists:seq(1, 2000)],
    t:p(length([inspect([Large, <<"small">>], 64) || _ <- lists:seq(1, 2000)])).

number(List, Lists) -> length(lists:takewhile(fun(L) -> L =/= List end, Lists)).

%% Tails are long: how long.
said(Fun, Arguments) ->
    case t:c(fun() -> apply(?MODULE, Fun, Arguments) end) of
        {ok, {Sizes, Size, Sum, Tail, Own}} -> {Sizes, Size, Sum, length(Tail), Own};
        {Sizes, Size, Sum, Tail, Own} -> {Sizes, Size, Sum, length(Tail), Own};
        Other -> Other
    end.

tmp() -> filename:join(os:getenv("DIFF_TMP", "/tmp"), "nif_vectors.so").
source() -> filename:join(os:getenv("here", "."), "nif_vectors.c").

build() ->
    Include = filename:join([code:root_dir(), "usr", "include"]),
    os:cmd("cc -O1 -w -shared -fPIC -I" ++ Include ++ " -o " ++ tmp() ++ " " ++ source()).

inspect(_, _) -> erlang:nif_error(no_library).
inspect_dirty(_, _) -> erlang:nif_error(no_library).
keep(_, _) -> erlang:nif_error(no_library).
keep_dirty(_, _) -> erlang:nif_error(no_library).
queue(_) -> erlang:nif_error(no_library).
queue_dirty(_) -> erlang:nif_error(no_library).
