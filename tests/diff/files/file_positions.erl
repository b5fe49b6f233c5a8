%% file:position/2 in all its forms, pread and pwrite with lists, truncate,
%% allocate and advise, on each kind of handle.
-module(file_positions).
-export([main/0]).

main() ->
    D = t:tmp("file_positions"),
    F = filename:join(D, "f"),
    [t:p({M, handle(F, M)}) || M <- kinds()],
    [t:p({ram, M, ram(M)}) || M <- [[], [binary], [read], [write], [read, write, binary]]],
    file:del_dir_r(D).

kinds() ->
    [[], [raw], [binary], [raw, binary], [raw, read_ahead], [raw, {read_ahead, 2}, binary],
     [raw, delayed_write], [raw, {delayed_write, 3, 10}, binary], [raw, read_ahead, delayed_write]].

handle(F, M) ->
    file:write_file(F, "0123456789abcdefghij"),
    {ok, H} = file:open(F, [read, write | M]),
    R = all(H),
    file:close(H),
    {R, file:read_file(F)}.

ram(M) ->
    case file:open("0123456789abcdefghij", [ram | M]) of
        {ok, H} -> {all(H), file:close(H)};
        E -> E
    end.

all(H) ->
    [[{P, t:c(fun() -> file:position(H, P) end), t:c(fun() -> file:read(H, 3) end)} || P <- positions()],
     [{W, t:c(fun() -> file:pread(H, t:id(W)) end)} || W <- lists_of_reads()],
     [{A, t:c(fun() -> file:pread(H, t:id(element(1, A)), t:id(element(2, A))) end)} || A <- reads()],
     [{W, t:c(fun() -> file:pwrite(H, t:id(W)) end)} || W <- lists_of_writes()],
     [{A, t:c(fun() -> file:pwrite(H, t:id(element(1, A)), t:id(element(2, A))) end)} || A <- writes()],
     t:c(fun() -> file:position(H, bof) end),
     t:c(fun() -> file:read(H, 64) end),
     [t:c(fun() -> file:position(H, 5) end), t:c(fun() -> file:truncate(H) end),
      t:c(fun() -> file:position(H, eof) end), t:c(fun() -> file:position(H, 9) end),
      t:c(fun() -> file:write(H, "Z") end), t:c(fun() -> file:position(H, 0) end),
      t:c(fun() -> file:read(H, 64) end)],
     [{A, t:c(fun() -> file:advise(H, element(1, A), element(2, A), element(3, A)) end)} || A <- advices()],
     [{S, t:c(fun() -> file:read(H, t:id(S)) end)} || S <- [0, -1, a, 1.0, 5000, 1 bsl 70]],
     [{W, t:c(fun() -> file:write(H, t:id(W)) end)} || W <- [a, [a], [256], [-1], [1 | 2], 7, <<1:3>>, [<<1:7>>], [], <<>>, [[] | <<"t">>]]]].

positions() ->
    [bof, cur, eof, 0, 5, {bof, 3}, {cur, 2}, {cur, -4}, {eof, -2}, {eof, 0}, {eof, 4}, {bof, -1}, -1,
     {cur, -1000}, {eof, -1000}, 1 bsl 40, 1 bsl 62, 1 bsl 70, {bof, 1 bsl 70}, a, {a, 1}, {bof, a}, 1.0, {bof, 1.0}, "x", {cur, 0}, 2].

lists_of_reads() ->
    [[], [{0, 2}], [{0, 2}, {5, 3}, {18, 10}, {40, 2}], [{0, 0}], [{50, 0}], [{-1, 2}], [{0, 2}, {-1, 2}],
     [{0, -1}], [{a, 1}], [{0, a}], x, [x], [{0, 1} | y], [{0, 4096}]].

reads() ->
    [{0, 3}, {19, 3}, {20, 3}, {100, 3}, {-1, 3}, {0, 0}, {0, -1}, {a, 1}, {0, a}, {1.0, 2}, {1 bsl 64, 1},
     {cur, 2}, {{bof, 2}, 2}, {{cur, 1}, 1}, {eof, 1}, {bof, 2}].

lists_of_writes() ->
    [[], [{0, "AB"}], [{2, <<"CD">>}, {22, ["E", $F]}], [{-1, "x"}], [{0, "G"}, {-1, "x"}], [{0, a}], [{a, "x"}], x, [x], [{1, "H"} | y]].

writes() ->
    [{3, "IJ"}, {25, "K"}, {-1, "x"}, {a, "x"}, {0, a}, {0, [300]}, {0, ""}, {1.0, "x"}, {{bof, 6}, "L"}, {cur, "M"}, {eof, "N"}].

advices() ->
    [{0, 0, A} || A <- [normal, random, sequential, will_need, dont_need, no_reuse, other, 3]]
        ++ [{-1, 0, normal}, {0, -1, normal}, {a, 0, normal}, {0, b, random}, {1 bsl 64, 0, normal}].
