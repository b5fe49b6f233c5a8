%% erlang:hibernate/3: arguments, an empty stack, a heap that holds no more than is alive, messages
%% that are there already.
-module(proc_hibernate).
-export([main/0, woken/2, small/1, at_once/2, fail/0]).

main() ->
    bad(),
    S = self(),
    P = spawn(fun() -> grow(100000), catch erlang:hibernate(?MODULE, woken, [S, {a, [b]}]),
                       S ! came_back end),
    asleep(P),
    [{heap_size, H}, {total_heap_size, T}, {stack_size, _}] =
        process_info(P, [heap_size, total_heap_size, stack_size]),
    t:p({heap_is_small, H =< erts_debug:size([S, {a, [b]}]) + 8, total_is_heap, H =:= T}),
    t:p(process_info(P, [status, current_stacktrace, message_queue_len])),
    P ! wake,
    receive M1 -> t:p(M1) end,
    Q = spawn(?MODULE, small, [S]),
    [begin asleep(Q), {_, Z} = process_info(Q, total_heap_size), t:p(Z =< 16), Q ! again,
           receive again -> ok end end || _ <- lists:seq(1, 3)],
    exit(Q, kill),
    spawn(fun() -> self() ! first, self() ! second, erlang:hibernate(?MODULE, at_once, [S, 1]) end),
    receive M2 -> t:p(M2) end,
    process_flag(trap_exit, true),
    U = spawn_link(fun() -> erlang:hibernate(?MODULE, not_there, [1]) end),
    U ! go,
    receive {'EXIT', U, {R, [{M, F, A, _} | _]}} -> t:p({R, M, F, A}) end,
    V = spawn_link(fun() -> erlang:hibernate(?MODULE, fail, []) end),
    V ! go,
    receive {'EXIT', V, {R2, St}} -> t:p({R2, [{M3, F3, A3} || {M3, F3, A3, _} <- St]}) end.

bad() ->
    [t:pc(fun() -> erlang:hibernate(M, F, A) end)
     || {M, F, A} <- [{1, f, []}, {m, 1, []}, {m, f, x}, {m, f, [a | b]}, {{m}, f, []}, {m, "f", []},
                      {m, f, #{}}]],
    {'EXIT', {R, [{_, N, _, _} | _]}} = (catch erlang:hibernate(x, y, lists:duplicate(5122, z))),
    t:p({R, N}).

grow(N) -> L = lists:seq(1, N), t:id(L), erlang:garbage_collect(), ok.

asleep(P) ->
    case process_info(P, [current_function, status]) of
        [{_, {erlang, hibernate, 3}}, {_, waiting}] -> ok;
        _ -> erlang:yield(), asleep(P)
    end.

woken(S, X) ->
    receive M -> S ! {woken, M, X, process_info(self(), catchlevel)} end.

small(S) -> receive again -> S ! again, small_next(S) after 0 -> small_next(S) end.
small_next(S) -> erlang:hibernate(?MODULE, small, [S]).

at_once(S, N) -> receive A -> receive B -> S ! {A, B, N} end end.

fail() -> receive go -> erlang:error(failed) end.
