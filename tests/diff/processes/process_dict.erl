%% put, get, erase, get_keys, pdict of many entries.
-module(process_dict).
-export([main/0]).
main() ->
    [erase(K) || {K, _} <- get()],
    t:p(put(a, 1)), t:p(put(a, 2)), t:p(get(a)), t:p(get(b)), t:p(erase(a)), t:p(erase(a)), t:p(put({k, "x"}, #{v => 1})), t:p(get({k, "x"})), t:p(get_keys()), t:p(get()), t:p(erase()), t:p(get()),
    [put(I, I * I) || I <- lists:seq(1, 1000)], t:p(lists:sum([get(I) || I <- lists:seq(1, 1000)])), t:p(length(get())), t:p(lists:sort(get_keys()) =:= lists:seq(1, 1000)), t:p(length(get_keys(1))), [erase(I) || I <- lists:seq(1, 990)], t:p(lists:sort(get())),
    put(x, same), t:p(get_keys(same)), put(1.0, float), put(1, int), t:p({get(1), get(1.0)}), t:p(get_keys(nothing)).
