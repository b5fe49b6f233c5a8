%% Records of which several fields change at once: the compiler has all but the first written in
%% place, into the tuple that setelement/3 made.
%% until 29
%% OTP 29 compiles what interrupted/0 looks for to other instructions.
-module(setelement_in_place).
-export([main/0, update/2, element_of/1]).

-record(r, {a, b, c, d, e, f, g, h, i, j}).

main() ->
    R = #r{c = [1], d = "d"},
    io:format("~p~n~p~n", [update(R, true), update(R, false)]),
    io:format("~p~n", [R]),
    io:format("~p~n", [catch swapped(#r{a = 1, b = 2})]),
    {Pid, Ref} = spawn_monitor(fun() -> receiver(#r{}) end),
    Pid ! {one, lists:seq(1, 5), <<1:800>>},
    receive {'DOWN', Ref, process, Pid, Why} -> io:format("~p~n", [Why]) end,
    grown(#r{}, 2000),
    io:format("~p~n", [interrupted()]).

%% The new tuple is copied to a y register before it is complete.
update(R, Z) ->
    R1 = R#r{a = 1, b = 2},
    W = case Z of true -> [element_of(R1)]; false -> [] end,
    {W, R1}.

element_of(R) -> ?MODULE:module_info(), element(2, R).

swapped(#r{a = A, b = B} = R) ->
    S = R#r{a = B, b = A},
    T = setelement(2, setelement(3, setelement(4, S, S#r.b), S#r.a), R),
    element_of(T),
    {S, T}.

%% What is written in place is a part of a message.
receiver(R) ->
    receive
        {one, L, B} ->
            N = R#r{a = L, b = B},
            garbage_collect(),
            exit({element_of(N), N})
    end.

grown(_, 0) -> ok;
grown(R, N) ->
    New = R#r{a = {N, lists:seq(1, 10)}, b = [N | integer_to_list(N)]},
    {N, [1 | _]} = element_of(New),
    grown(New, N - 1).

%% The compilers of OTP 22 to 24 may read a match context between two segments.
interrupted() ->
    M = interrupted, F = {field_flags, []}, Z = {f, 0},
    Code = {function, f, 1, 2,
            [{label, 1}, {line, []}, {func_info, {atom, M}, {atom, f}, 1},
             {label, 2},
             {test, bs_start_match3, {f, 1}, 1, [{x, 0}], {x, 1}},
             {bs_get_position, {x, 1}, {x, 0}, 2},
             {test, bs_get_integer2, {f, 1}, 2, [{x, 1}, {integer, 8}, 1, F], {x, 2}},
             {bs_init2, Z, 9, 0, 3, F, {x, 3}},
             {bs_put_integer, Z, {integer, 8}, 1, F, {x, 2}},
             {bs_set_position, {x, 1}, {x, 0}},
             {bs_get_tail, {x, 1}, {x, 0}, 4},
             {bs_put_binary, Z, {integer, 1}, 8, F, {x, 0}},
             {bs_put_integer, Z, {integer, 56}, 1, F, {x, 2}},
             {move, {x, 3}, {x, 0}},
             return]},
    {ok, Bin} = beam_asm:module({M, [{f, 1}], [], [Code], 3}, [], [], []),
    {module, M} = code:load_binary(M, "interrupted.beam", Bin),
    [catch_class(fun() -> M:f(A) end) || A <- [<<7, 8>>, <<255>>, <<>>, a]].

catch_class(F) ->
    try F() catch C:R -> {C, R} end.
