%% What a process's end looks like to a monitor, for every way to end.
-module(proc_exit_kinds).
-export([main/0]).
main() ->
    Fs = [fun() -> ok end, fun() -> exit(normal) end, fun() -> exit(x) end, fun() -> error(x) end, fun() -> throw(x) end, fun() -> exit(self(), kill), receive y -> ok end end, fun() -> 1 = t:id(2) end, fun() -> a + t:id(1) end, fun() -> (t:id(foo)):bar() end, fun() -> erlang:raise(error, {a, b}, []) end, fun() -> erlang:raise(exit, {a, b}, []) end, fun() -> erlang:raise(throw, {a, b}, []) end, fun() -> case t:id(1) of 2 -> ok end end, fun() -> if_it(t:id(1)) end, fun() -> (fun(1) -> ok end)(t:id(2)) end, fun() -> f(t:id(2)) end, fun() -> (t:id(3))() end, fun() -> (fun() -> ok end)(t:id(1)) end, fun() -> try t:id(1) of 2 -> ok catch _:_ -> ok end end, fun() -> #{a := _} = t:id(#{}) end, fun() -> (t:id(#{}))#{a := 1} end, fun() -> (t:id(a))#{b => 1} end, fun() -> t:id(true) andalso t:id(1), case t:id(1) andalso true of _ -> ok end end, fun() -> list_to_atom(lists:duplicate(300, $a)) end],
    [begin {P, M} = spawn_monitor(F), receive {'DOWN', M, _, P, R} -> t:p(strip(R)) end end || F <- Fs].
if_it(X) -> if X > 1 -> ok end.
f(1) -> ok.
strip({R, [{_, _, _, I} | _] = St}) when is_list(I) -> {R, [{M, F, case A of _ when is_list(A) -> length(A); _ -> A end} || {M, F, A, _} <- St]}; strip(R) -> R.
