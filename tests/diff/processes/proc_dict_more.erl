%% The process dictionary under many keys, of any type, through errors.
-module(proc_dict_more).
-export([main/0]).
main() ->
    t:p(erase()), t:p([put(K, V) || {K, V} <- [{a, 1}, {1, b}, {1.0, c}, {"s", d}, {{t}, e}, {a, 2}, {[], nil}, {<<"b">>, 1}]]), t:p(lists:sort(get())), t:p([get(K) || K <- [a, 1, 1.0, "s", {t}, [], <<"b">>, none]]), t:p(lists:sort(get_keys())), t:p(get_keys(e)), put(z, e), t:p(lists:sort(get_keys(e))),
    [put({n, I}, I) || I <- lists:seq(1, 1000)], t:p(lists:sum([get({n, I}) || I <- lists:seq(1, 1000)])), [erase({n, I}) || I <- lists:seq(1, 1000, 2)], t:p(length(get())), t:p(erase(a)), t:p(erase(a)), catch (begin put(in_catch, 1), error(x) end), t:p(get(in_catch)), t:p(length(erase())), t:p(get()), S = self(), spawn(fun() -> S ! {dict, [K || {K, _} <- get(), K =/= '$ancestors', K =/= '$initial_call']} end), receive {dict, D} -> t:p(D) end.
