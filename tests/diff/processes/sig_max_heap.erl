%% Processes that grow past max_heap_size.
-module(sig_max_heap).
-export([main/0]).
main() ->
    process_flag(trap_exit, true),
    P = spawn_opt(fun() -> grow([]) end, [link, {max_heap_size, #{size => 20000, kill => true, error_logger => false}}]), receive {'EXIT', P, R} -> t:p(R) end,
    Q = spawn_opt(fun() -> L = lists:seq(1, 30000), exit({length(L)}) end, [link, {max_heap_size, #{size => 20000, kill => false, error_logger => false}}]), receive {'EXIT', Q, R2} -> t:p(R2) end,
    O = spawn_opt(fun() -> process_flag(max_heap_size, #{size => 0}), L = lists:seq(1, 30000), exit({length(L)}) end, [link, {max_heap_size, #{size => 20000, kill => true, error_logger => false}}]), receive {'EXIT', O, R3} -> t:p(R3) end,
    S = spawn_opt(fun() -> receive go -> receive never -> ok end end end, [link, {max_heap_size, #{size => 5000, kill => true, error_logger => false}}]), [S ! lists:seq(1, 3000) || _ <- lists:seq(1, 20)], S ! go, catch erlang:garbage_collect(S), receive {'EXIT', S, R4} -> t:p(R4) end,
    t:p(maps:without([include_shared_binaries], process_flag(max_heap_size, 233))), t:p(maps:without([include_shared_binaries], process_flag(max_heap_size, 0))).
grow(L) -> grow([L, length(L) | L]).
