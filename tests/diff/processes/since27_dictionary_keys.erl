%% since 27
%% process_info/2 of one key of a process dictionary.
-module(since27_dictionary_keys).
-export([main/0]).

main() ->
    Me = self(),
    P = spawn(fun() -> put(a, [1, 2, <<"three">>]), put({k, 1}, undefined), put(1.0, one), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end, put(a, own), put("text", #{}),
    [begin
         t:p(I, t:c(fun() -> process_info(P, I) end)), t:p(I, t:c(fun() -> process_info(self(), I) end))
     end || I <- [{dictionary, a}, {dictionary, b}, {dictionary, {k, 1}}, {dictionary, 1}, {dictionary, 1.0}, {dictionary, "text"}, {dictionary},
                  {links, a}, {dictionary, a, b}, [{dictionary, a}], [{dictionary, a}, priority, {dictionary, b}], [registered_name, {dictionary, a}],
                  [{dictionary, a}, nope], [{dictionary, a} | b], [priority, {nope, a}]]],
    M = monitor(process, P), P ! stop, receive {'DOWN', M, _, _, _} -> ok end,
    t:p(process_info(P, {dictionary, a})), t:p(process_info(P, [{dictionary, a}])),
    Q = spawn(fun() -> put(a, hidden), process_flag(sensitive, true), Me ! ready, receive stop -> ok end end),
    receive ready -> ok end, t:p(process_info(Q, {dictionary, a})), Q ! stop.
