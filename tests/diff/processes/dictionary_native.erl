%% get/1 and put/2 called in every place: as a value, a guard's kin, the last thing, watched, with many
%% keys and through collections.
-module(dictionary_native).
-export([main/0, last/2, own/1]).

main() ->
    t:p([get(a), last(a, 1), get(a), last(a, [2]), get(a), erase(a), get(a)]),
    Keys = [a, 1, 1.0, "k", {k, 1}, <<"k">>, 1 bsl 70, [], #{a => 1}],
    t:p([put(K, {K, I}) || {I, K} <- lists:zip(lists:seq(1, 9), Keys)]),
    t:p([get(t:id(K)) || K <- Keys ++ [2, 2.0, "l"]]),
    t:p([last(K, own(K)) || K <- Keys]),
    t:p([get(K) || K <- Keys]),
    [put({n, I}, [I]) || I <- lists:seq(1, 3000)],
    garbage_collect(),
    t:p(lists:sum([hd(get({n, I})) || I <- lists:seq(1, 3000)])),
    [put(counter, [I | lists:sublist(case get(counter) of undefined -> []; L -> L end, 20)])
     || I <- lists:seq(1, 20000)],
    t:p(get(counter)),
    t:p([case get(K) of {_, _} = T -> element(2, T); X -> X end || K <- Keys]),
    {Pid, Ref} = spawn_monitor(fun() -> receive go -> last(x, y), put(z, get(x)) end end),
    1 = erlang:trace_pattern({erlang, put, 2}, true, []),
    1 = erlang:trace(Pid, true, [call]),
    Pid ! go,
    receive {'DOWN', Ref, process, Pid, _} -> ok end,
    erlang:trace_pattern({erlang, put, 2}, false, []),
    t:p([receive {trace, Pid, call, MFA} -> MFA after 1000 -> none end || _ <- [1, 2]]).

last(K, V) -> put(K, V).
own(K) -> {got, get(K)}.
