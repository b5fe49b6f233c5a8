%% Logs on disk: halt and wrap logs, terms and bytes, chunks, truncation, repair, errors.
-module(lib_disk_log).
-export([main/0]).
main() ->
    D = t:tmp("dl"), F = filename:join(D, "h.log"), {ok, h} = disk_log:open([{name, h}, {file, F}]),
    t:p([disk_log:log(h, {term, 1}), disk_log:log_terms(h, [a, b, c]), disk_log:alog(h, later), disk_log:sync(h)]), {C, Ts} = disk_log:chunk(h, start),
    t:p(Ts),
    t:p(disk_log:chunk(h, C)),
    t:p(disk_log:chunk(h, start, 2) =/= x),
    t:p(element(2, lists:keyfind(items, 1, disk_log:info(h)))),
    t:p([disk_log:blog(h, <<1>>), disk_log:truncate(h, {head}), disk_log:log(h, after_trunc)]), {_, T2} = disk_log:chunk(h, start),
    t:p(T2),
    t:p(disk_log:block(h)),
    t:p(disk_log:unblock(h)),
    t:p(disk_log:close(h)),
    t:p(disk_log:log(h, x)),
    {ok, B} = file:read_file(F), ok = file:write_file(F, binary:part(B, 0, byte_size(B) - 3)),
    t:p(case disk_log:open([{name, h}, {file, F}]) of {repaired, N, R, Bad} -> {repaired, N, R, Bad}; O -> O end), disk_log:close(h), ok = file:write_file(F, "garbage that is none"),
    t:p(element(1, element(2, disk_log:open([{name, h}, {file, F}])))), W = filename:join(D, "w"), {ok, w} = disk_log:open([{name, w}, {file, W}, {type, wrap}, {size, {300, 3}}, {notify, true}]), [disk_log:log(w, {I, lists:duplicate(20, x)}) || I <- lists:seq(1, 12)],
    t:p([case M of {disk_log, _, w, X} -> X; X -> X end || M <- t:flush()]),
    t:p(lists:sort([filename:extension(X) || X <- filelib:wildcard(W ++ "*")])),
    t:p([I || {I, _} <- all(w, start)]),
    t:p(disk_log:inc_wrap_file(w)),
    t:p(disk_log:change_size(w, {1000, 2})),
    t:p(element(2, lists:keyfind(current_file, 1, disk_log:info(w)))), disk_log:close(w),
    {ok, x} = disk_log:open([{name, x}, {file, filename:join(D, "x")}, {format, external}, {head, <<"HEAD\n">>}]),
    t:p([disk_log:blog(x, ["io", <<"list">>, 10]), disk_log:log(x, t), disk_log:balog(x, "end"), disk_log:close(x)]),
    t:p(file:read_file(filename:join(D, "x"))),
    t:p([case disk_log:open(X) of {error, {file_error, _, E}} -> E; {error, E} -> E; Y -> Y end || X <- [[], [{name, a}, {type, bad}], [{name, b}, {size, 5}, {type, wrap}], [{name, c}, {file, "/nope/x/y"}], [{name, e}, {mode, read_only}, {file, filename:join(D, "none")}]]]),
    t:p(lists:flatten(disk_log:format_error({error, {no_such_log, q}}))),
    t:p(disk_log:all() =/= x).
all(L, C) -> case disk_log:chunk(L, C) of {C2, Ts} -> Ts ++ all(L, C2); {C2, Ts, _} -> Ts ++ all(L, C2); eof -> [] end.
