%% since 29
%% A debugger sets breakpoints on all lines of this module, looks into the stack at each, and lets the
%% process go on: what it is told, what it sees, and that the functions still return what they should.
-module(since29_debugger).
-compile(beam_debug_info).
-export([main/0, run/0, sums/2, floats/2, bits/1, receives/1, tries/1, many/12, maps/1, leaf/1,
         deep/1, tail/2, spawned/1, funs/1, selects/1, raises/1, comprehends/1, twice/1, big/1]).

main() ->
    show(disabled, erl_debugger:supported()),
    show(undef, [catch_(fun() -> erl_debugger:whereis() end),
                 catch_(fun() -> erl_debugger:stack_frames(self(), 0) end),
                 catch_(fun() -> erl_debugger:breakpoints(?MODULE) end)]),
    show(info_before, code:get_debug_info(?MODULE)),
    show(no_info, [code:get_debug_info(lists), catch_(fun() -> code:get_debug_info(none_such) end),
                   catch_(fun() -> code:get_debug_info("x") end)]),
    true = erts_debug:set_internal_state(available_internal_state, true) =:= false,
    show(support, [erts_debug:get_internal_state(debugger_support),
                   erts_debug:set_internal_state(debugger_support, false),
                   erts_debug:set_internal_state(debugger_support, true),
                   erts_debug:get_internal_state(debugger_support)]),
    show(enabled, [erl_debugger:supported(), erl_debugger:instrumentations()]),
    show(without, [erl_debugger:breakpoint(?MODULE, 40, true), erl_debugger:breakpoints(none_such),
                   lists:all(fun(M) -> M =:= #{} end,
                             maps:values(element(2, erl_debugger:breakpoints(?MODULE))))]),
    {module, _} = code:load_file(?MODULE),
    ?MODULE:run().

catch_(F) ->
    try F() of V -> {ok, V} catch C:R -> {C, R} end.

show(What, Term) ->
    io:format("~0p: ~0tp~n", [What, Term]).

run() ->
    arguments(),
    registration(),
    Info = code:get_debug_info(?MODULE),
    [io:format("~0p ~0tp~n", [Line, lists:sort(maps:to_list(Item))]) ||
        {Line, Item} <- lists:keysort(1, Info), Line > 165],
    {ok, All} = erl_debugger:breakpoints(?MODULE),
    show(lines, [F || {F, Lines} <- lists:sort(maps:to_list(All)), Lines =:= #{}]),
    {ok, Session} = erl_debugger:register(self()),
    Lines = lists:usort([L || {{F, _}, Ls} <- maps:to_list(All), is_subject(F), L <- maps:keys(Ls)]),
    show(set, lists:usort([erl_debugger:breakpoint(?MODULE, L, true) || L <- Lines])),
    [subject(Session, F, A) ||
        {F, A} <- [{sums, [[1, 2, 3], 0]}, {floats, [1.5, 2.25]}, {bits, [<<1, 2, 3:12>>]},
                   {receives, [4]}, {tries, [0]}, {tries, [a]}, {many, lists:seq(1, 12)},
                   {maps, [#{a => 1}]}, {leaf, [7]}, {deep, [3]}, {tail, [2, []]},
                   {spawned, [5]}, {funs, [3]}, {selects, [{a, 1}]}, {selects, [[b]]},
                   {raises, [oops]}, {comprehends, [3]}, {twice, [1]}, {big, [1]}]],
    show(cleared, lists:usort([erl_debugger:breakpoint(?MODULE, L, false) || L <- Lines])),
    {ok, Cleared} = erl_debugger:breakpoints(?MODULE),
    show(left, [B || Ls <- maps:values(Cleared), B <- maps:values(Ls), B]),
    show(apart, leaf(1)),
    ok = erl_debugger:breakpoint(?MODULE, hd(Lines), true),
    ok = erl_debugger:unregister(self(), Session),
    show(nobody, sums([1], 0)),
    running().

is_subject(F) ->
    F =/= run andalso lists:member(F, [G || {G, _} <- ?MODULE:module_info(exports)])
        orelse lists:prefix("-", atom_to_list(F)).

%% What bad arguments answer.
arguments() ->
    P = spawn(fun() -> receive stop -> ok end end),
    Bad = [{breakpoint, [?MODULE, 0, true]}, {breakpoint, [?MODULE, -1, true]},
           {breakpoint, ["x", 1, true]}, {breakpoint, [?MODULE, 1, maybe_]},
           {breakpoint, [?MODULE, 1 bsl 70, true]}, {breakpoint, [?MODULE, 100000, true]},
           {breakpoint, [none_such, 1, true]}, {breakpoint, [lists, 100, true]},
           {breakpoints, [1]}, {breakpoints, [?MODULE, none_such, 1]}, {breakpoints, [?MODULE, run, -1]},
           {breakpoints, [none_such, run, 0]}, {breakpoints, [?MODULE, "run", 0]},
           {breakpoints, [?MODULE, run, a]}, {breakpoints, [lists, reverse, 1]},
           {toggle_instrumentations, [a]}, {toggle_instrumentations, [#{a => true}]},
           {toggle_instrumentations, [#{line_breakpoint => 1}]}, {toggle_instrumentations, [#{}]},
           {register, [a]}, {unregister, [a, 1]}, {unregister, [self(), a]}, {unregister, [P, 1]},
           {stack_frames, [self(), 1]}, {stack_frames, [a, 1]}, {stack_frames, [P, -1]},
           {stack_frames, [P, 1 bsl 70]}, {stack_frames, [P, 1]},
           {peek_stack_frame_slot, [P, -1, 0, 0]}, {peek_stack_frame_slot, [P, 0, a, 0]},
           {peek_stack_frame_slot, [P, 0, 0, 0]}, {xregs_count, [a]}, {xregs_count, [self()]},
           {xregs_count, [P]}, {peek_xreg, [P, -1, 1]}, {peek_xreg, [P, 0, a]}, {peek_xreg, [P, 0, 0]}],
    [show(F, catch_(fun() -> apply(erl_debugger, F, A) end)) || {F, A} <- Bad],
    Notify = [[a, 1, fun() -> ok end], [{a, b, 1}, a, fun() -> ok end], [{a, b, 1}, 1, fun(_) -> ok end],
              [{a, b, c}, 1, fun() -> ok end], [{a, b, 1}, 1, fun() -> ok end]],
    [show(notify, catch_(fun() -> apply(erts_internal, notify_breakpoint_hit, A) end)) || A <- Notify],
    erlang:suspend_process(P),
    show(peeked, [erl_debugger:peek_stack_frame_slot(P, 9, 0, 0),
                  erl_debugger:peek_stack_frame_slot(P, 0, 9, 0), erl_debugger:xregs_count(P),
                  erl_debugger:peek_xreg(P, 0, 0)]),
    exit(P, kill).

registration() ->
    P = spawn(fun() -> receive stop -> ok end end),
    {ok, S} = erl_debugger:register(P),
    show(registered, [is_integer(S), erl_debugger:register(self()), erl_debugger:whereis() =:= P,
                      catch_(fun() -> erl_debugger:unregister(P, S + 1) end),
                      erl_debugger:unregister(self(), S), erl_debugger:whereis() =:= P]),
    M = monitor(process, P),
    P ! stop,
    receive {'DOWN', M, _, _, _} -> ok end,
    show(dead, erl_debugger:whereis()).

%% Runs a function in a process of its own, and shows the stack at each breakpoint.
subject(Session, F, A) ->
    Self = self(),
    {P, M} = spawn_monitor(fun() -> Self ! {result, self(), catch_(fun() -> apply(?MODULE, F, A) end)} end),
    io:format("~n~0p ~0tp~n", [F, A]),
    events(Session, P, M).

events(Session, P, M) ->
    receive
        {debugger_event, Session, {breakpoint, Q, MFA, Line, Resume}} ->
            erlang:suspend_process(Q),
            Frames = erl_debugger:stack_frames(Q, limit(MFA)),
            Q =:= P andalso io:format("  ~0p ~0p~n", [MFA, Line]),
            [io:format("    ~0p ~0tp ~0tp~n", [N, Fun, [slot(S) || S <- Slots]]) ||
                {N, Fun, #{slots := Slots}} <- Frames, Q =:= P, is_own(Fun)],
            [Value = erl_debugger:peek_stack_frame_slot(Q, N, I, limit(MFA)) ||
                {N, _, #{slots := Slots}} <- Frames, {I, Value} <- lists:enumerate(0, Slots)],
            erlang:resume_process(Q),
            ok = Resume(),
            events(Session, P, M);
        {result, P, Result} ->
            io:format("  -> ~0tp~n", [Result]),
            events(Session, P, M);
        {'DOWN', M, _, _, Reason} ->
            io:format("  ~0p~n", [Reason])
    end.

%% Above that, sizes differ: of parts of bit strings, and of what a stack trace is made of.
limit({_, F, _}) when F =:= bits; F =:= receives -> 50;
limit(_) -> 8.

slot({value, V}) -> {value, plain(V)};
slot({too_large, N}) when is_integer(N) -> too_large;
slot({'catch', _} = C) -> C.

plain(P) when is_pid(P) -> 'a pid';
plain(R) when is_reference(R) -> 'a reference';
plain([H | T]) -> [plain(H) | plain(T)];
plain(T) when is_tuple(T) -> list_to_tuple(plain(tuple_to_list(T)));
plain(F) when is_function(F) -> 'a fun';
plain(T) -> T.

is_own(#{function := {?MODULE, F, _}}) -> is_subject(F) andalso not lists:prefix("-subject", atom_to_list(F));
is_own(#{function := _}) -> false;
is_own(Name) -> Name =:= '<breakpoint>'.

%% A process that is suspended while it begins, waits, or hibernates.
running() ->
    P = spawn(fun() -> receive never -> ok end end),
    erlang:suspend_process(P),
    show(count, erl_debugger:xregs_count(P)),
    H = spawn(erlang, hibernate, [?MODULE, leaf, [1]]),
    wait(H),
    erlang:suspend_process(H),
    show(hibernates, [{N, F, S} || {N, F, #{slots := S}} <- erl_debugger:stack_frames(H, 100)]),
    show(registers, [erl_debugger:peek_xreg(H, I, 10) || I <- [0, 1, 2, 3]]),
    [exit(Q, kill) || Q <- [P, H]],
    ok.

wait(H) ->
    case process_info(H, current_function) of
        {_, {erlang, hibernate, 3}} -> ok;
        _ -> erlang:yield(), wait(H)
    end.

sums([H | T], Sum) ->
    Next = Sum + H,
    sums(T, Next);
sums([], Sum) ->
    Sum.

floats(A, B) ->
    C = A * B + 0.5,
    D = C / A - B,
    {C, D, float(round(C))}.

bits(<<A, Rest/bits>>) ->
    B = <<A:4, Rest/bits>>,
    <<X:3, Y/bits>> = B,
    C = <<B/bits, Y/bits, X:5>>,
    {bit_size(C), C}.

receives(N) ->
    Ref = make_ref(),
    self() ! {Ref, N},
    self() ! other,
    receive
        {Ref, M} when M > 3 ->
            K = M + N,
            receive
                other -> {K, N}
            end
    after 1000 ->
        late
    end.

tries(X) ->
    try
        Y = 10 div X,
        {ok, Y}
    catch
        error:badarith ->
            Z = {caught, X},
            {X, Z}
    after
        put(done, X)
    end.

many(A, B, C, D, E, F, G, H, I, J, K, L) ->
    S = A + B + C + D + E + F,
    T = G + H + I + J + K + L,
    {S, T, [A, B, C, D, E, F, G, H, I, J, K, L]}.

maps(M) ->
    #{a := A} = M,
    N = M#{a := A + 1, c => {A}},
    maps:get(c, N).

leaf(X) ->
    Y = X * 2,
    {X, Y}.

deep(0) ->
    0;
deep(N) ->
    1 + deep(N - 1).

tail(0, Acc) ->
    lists:reverse(Acc);
tail(N, Acc) ->
    tail(N - 1, [{N, Acc} | Acc]).

spawned(X) ->
    Self = self(),
    P = spawn(fun() ->
                  Y = X + 1,
                  Self ! {self(), Y}
              end),
    receive
        {P, Y} -> Y
    end.

funs(N) ->
    F = fun(X) ->
            Z = X + N,
            Z * 2
        end,
    lists:map(F, [1, 2]).

selects({a, X}) ->
    {tagged, X};
selects([X | _]) ->
    case X of
        b ->
            bee;
        _ ->
            other
    end.

raises(X) ->
    Y = {X, X},
    error(Y).

comprehends(N) ->
    L = [X * X || X <- lists:seq(1, N), X rem 2 =:= 1],
    B = << <<X>> || X <- L >>,
    {L, B}.

twice(X) ->
    A = X + 1, B = A + 1,
    {A,
     B}.

big(X) ->
    Y = X + 1180591620717411303424,
    Z = "a string that is longer than the limit",
    {Y, Z}.
