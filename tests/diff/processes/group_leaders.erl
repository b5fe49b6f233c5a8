%% Group leaders: inheritance, change, a process that answers io requests.
-module(group_leaders).
-export([main/0]).
main() ->
    GL = group_leader(), S = self(),
    t:p(is_pid(GL)), spawn(fun() -> S ! {gl, group_leader()} end), t:p(receive {gl, G} -> G =:= GL end),
    Fake = spawn(fun() -> collect(S, []) end),
    P = spawn(fun() -> receive go -> io:format("captured ~p~n", [1]), io:put_chars("more"), S ! finished end end), t:p(group_leader(Fake, P)), t:p(process_info(P, group_leader) =:= {group_leader, Fake}), P ! go, receive finished -> ok end, Fake ! stop, t:p(receive {out, O} -> lists:flatten(O) end),
    t:pc(fun() -> group_leader(t:id(a), self()) end), t:pc(fun() -> group_leader(self(), t:id(a)) end), io:format(GL, "direct ~w~n", [ok]), io:format(user, "to user~n", []).
collect(S, Acc) -> receive {io_request, F, R, {put_chars, unicode, M, Fn, A}} -> F ! {io_reply, R, ok}, collect(S, [Acc, apply(M, Fn, A)]); {io_request, F, R, {put_chars, unicode, C}} -> F ! {io_reply, R, ok}, collect(S, [Acc, unicode:characters_to_list(C)]); stop -> S ! {out, Acc} end.
