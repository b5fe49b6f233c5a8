%% Cases of tests/tools/run that are Erlang code: OTP's tools on OTP's modules. What is printed has no
%% times, pids and folders in it.
-module(tools).
-include_lib("stdlib/include/ms_transform.hrl").
-export([xref/0, cover/0, profilers/0, fprof/0, dbg/0, trace_port/0, mnesia/0, mnesia_again/0, work/1]).

say(What, Term) ->
    io:format("~s: ~0tp~n", [What, Term]).

xref() ->
    {ok, _} = xref:start(x, []),
    xref:set_default(x, [{warnings, false}, {verbose, false}]),
    [{ok, _} = xref:add_application(x, code:lib_dir(A), [{name, A}]) || A <- [tools, stdlib, kernel]],
    say("xref", sorted(xref:analyze(x, undefined_function_calls))),
    [say(io_lib:format("~0p", [A]), digest(sorted(xref:analyze(x, A))))
     || A <- [locals_not_used, exports_not_used, deprecated_function_calls, {module_call, tools},
              {application_use, tools}, {call, {lists, sort, 1}}]],
    say("query", sorted(xref:q(x, "domain (E || \"erl_.*\":_/_) * X"))).

sorted({ok, L}) when is_list(L) -> lists:sort(L);
sorted(Other) -> Other.
%% Without the natives of lock counting, which kvik has not, and calls of them.
digest(Term) ->
    digested([T || T <- Term, string:find(io_lib:format("~0p", [T]), "lcnt") =:= nomatch]).
digested(Term) -> {length(Term), erlang:phash2(Term)}.

%% proplists, compiled for cover and used.
cover() ->
    {ok, proplists} = cover:compile(filename:join(code:lib_dir(stdlib), "src/proplists.erl")),
    [{a, 1}, {b, true}] = proplists:unfold(proplists:normalize([{a, 1}, b, c], [{expand, [{c, []}]}])),
    3 = proplists:get_value(k, [x, {k, 3}, y]),
    {ok, {proplists, Sum}} = cover:analyse(proplists, coverage, module),
    {ok, Functions} = cover:analyse(proplists, calls, function),
    {ok, Lines} = cover:analyse(proplists, coverage, line),
    {ok, File} = cover:analyse_to_file(proplists, "cover.html", [html]),
    {ok, Html} = file:read_file(File),
    say("cover", [Sum, [F || {_, N} = F <- Functions, N > 0], digest(Lines)]),
    say("page", digest([L || L <- string:split(Html, "\n", all), string:find(L, "File generated") =:= nomatch])),
    ok = cover:export("c.coverdata"),
    ok = cover:stop(),
    say("imported", begin cover:import("c.coverdata"), cover:imported_modules() end).

%% The calls that each profiler has counted.
profilers() ->
    cprof:start(?MODULE),
    cprof:start(lists),
    work(200),
    cprof:pause(),
    say("cprof", [begin {M, N, Calls} = cprof:analyse(M), {M, N, lists:sort(Calls)} end || M <- [?MODULE, lists]]),
    cprof:stop(),
    {ok, _} = eprof:start(),
    eprof:profile(fun() -> work(200) end),
    eprof:log("eprof.log"),
    eprof:analyze(total, [{sort, mfa}]),
    eprof:stop(),
    {ok, Eprof} = file:read_file("eprof.log"),
    say("eprof", calls(Eprof, "^((?:tools|lists|erlang):\\S+) +([0-9]+) ")).

%% Who called whom how often, as fprof reads it from its trace: of a process and of one it makes.
fprof() ->
    fprof:apply(fun() ->
        work(30),
        {P, R} = spawn_monitor(fun() -> work(10) end),
        receive {'DOWN', R, process, P, normal} -> ok end
    end, [], [{file, "fprof.trace"}]),
    ok = fprof:profile([{file, "fprof.trace"}]),
    ok = fprof:analyse([{dest, "fprof.analysis"}, {cols, 120}, {callers, true}, {details, true}]),
    {ok, Terms} = file:consult("fprof.analysis"),
    %% Time is spent waiting, too, and in collections: how often differs.
    Known = fun({{M, _, _}, _, _, _}) -> M =:= ?MODULE orelse M =:= lists; (_) -> false end,
    Named = fun(L) -> lists:sort([{named(F), N} || {F, N, _, _} = E <- L, Known(E)]) end,
    say("fprof", lists:sort([{named(F), N, Named(Callers), Named(Called)}
                             || {Callers, {F, N, _, _} = E, Called} <- Terms, Known(E)])),
    fprof:stop().
%% A fun has a number in its name.
named({M, F, A}) -> {M, hd(string:split(atom_to_list(F), "-fun-")), A}.

%% Of erlang:apply/2, with which OTP counts the start of a process, kvik knows nothing.
calls(Text, Re) ->
    case re:run(Text, Re, [global, multiline, {capture, all_but_first, list}]) of
        {match, All} -> lists:sort([{F, list_to_integer(N)} || [F, N] <- All, not lists:prefix("erlang:", F)]);
        nomatch -> none
    end.

work(N) ->
    L = lists:reverse(lists:seq(1, N)),
    Sum = lists:foldl(fun add/2, 0, lists:sort(L)),
    fib(12) + Sum.
add(A, B) -> A + B.
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).

%% Calls and returns, messages, and a match specification, as dbg's handler gets them.
dbg() ->
    Self = self(),
    {ok, _} = dbg:tracer(process, {fun(T, All) -> Self ! {traced, T}, [T | All] end, []}),
    P = spawn(fun Loop() -> receive {From, N} -> From ! work(N), Loop(); stop -> ok end end),
    {ok, _} = dbg:p(P, [c, m]),
    {ok, _} = dbg:tpl(?MODULE, fib, dbg:fun2ms(fun([N]) when N > 10 -> return_trace() end)),
    {ok, _} = dbg:tp(lists, seq, 2, [{'_', [], [{exception_trace}, {message, {caller}}]}]),
    P ! {self(), 5},
    Answer = receive N when is_integer(N) -> N end,
    P ! stop,
    say("dbg", [flat(T, Self, P) || T <- traced()]),
    say("answer", Answer),
    say("patterns", [element(1, dbg:ctpl(?MODULE)), element(1, dbg:ctp())]),
    dbg:stop_clear().

%% The same by a port that writes to files, and by one that somebody reads from a socket.
trace_port() ->
    {ok, _} = dbg:tracer(port, dbg:trace_port(file, {"trace", wrap, ".log", 4000, 4})),
    {ok, _} = dbg:p(self(), [c]),
    {ok, _} = dbg:tpl(?MODULE, '_', dbg:fun2ms(fun(_) -> return_trace() end)),
    work(20),
    {ok, _} = dbg:ctpl(),
    ok = dbg:flush_trace_port(),
    say("files", [{F, filelib:file_size(F)} || F <- filelib:wildcard("trace*.log")]),
    Read = read_trace(file, {"trace", wrap, ".log", 4000, 4}),
    say("trace_port", [length(Read), lists:last(Read)]),
    dbg:stop_clear(),
    {ok, _} = dbg:tracer(port, dbg:trace_port(ip, 0)),
    {ok, Port} = dbg:trace_port_control(get_listen_port),
    {ok, _} = dbg:p(self(), [c]),
    {ok, _} = dbg:tpl(?MODULE, add, []),
    Self = self(),
    dbg:trace_client(ip, Port, {fun(T, _) -> Self ! {traced, T}, [] end, []}),
    work(20),
    Traced = [begin receive {traced, T} -> setelement(2, T, pid) after 10000 -> nothing end end
              || _ <- lists:seq(1, 20)],
    say("socket", Traced),
    dbg:stop_clear().
read_trace(Type, From) ->
    Self = self(),
    dbg:trace_client(Type, From, {fun(end_of_trace, L) -> Self ! {read, lists:reverse(L)}, [];
                                     (T, L) -> [setelement(2, T, pid) | L] end, []}),
    receive {read, L} -> L end.

traced() ->
    receive {traced, T} -> [T | traced()] after 500 -> [] end.
flat(Self, Self, _) -> me;
flat(P, _, P) -> it;
flat(T, Self, P) when is_tuple(T) -> list_to_tuple(flat(tuple_to_list(T), Self, P));
flat([H | T], Self, P) -> [flat(H, Self, P) | flat(T, Self, P)];
flat(T, _, _) -> T.

%% A table in memory, one on disc, one only there: transactions, one that is aborted, an index, dirty
%% operations, queries; then another node reads what the disc has kept.
mnesia() ->
    ok = mnesia:create_schema([node()]),
    ok = mnesia:start(),
    Fields = [{attributes, [key, value]}],
    {atomic, ok} = mnesia:create_table(ram, [{ram_copies, [node()]} | Fields]),
    {atomic, ok} = mnesia:create_table(disc, [{disc_copies, [node()]}, {index, [value]} | Fields]),
    {atomic, ok} = mnesia:create_table(only, [{disc_only_copies, [node()]}, {type, set} | Fields]),
    [{atomic, ok} = mnesia:transaction(fun() -> mnesia:write({T, N, N rem 7}) end)
     || T <- [ram, disc, only], N <- lists:seq(1, 50)],
    Bad = mnesia:transaction(fun() -> mnesia:write({disc, 1, gone}), mnesia:abort(no) end),
    Ps = [spawn_monitor(fun() -> [add_one() || _ <- lists:seq(1, 20)] end) || _ <- lists:seq(1, 5)],
    [receive {'DOWN', R, process, _, normal} -> ok end || {_, R} <- Ps],
    say("mnesia", [Bad, facts()]),
    ok = mnesia:dirty_delete(ram, 3),
    {atomic, ok} = mnesia:change_table_copy_type(ram, node(), disc_copies),
    ok = mnesia:backup("backup"),
    say("stopped", mnesia:stop()).

add_one() ->
    F = fun() -> [{ram, 0, N}] = case mnesia:read(ram, 0, write) of [] -> [{ram, 0, 0}]; R -> R end,
                 mnesia:write({ram, 0, N + 1})
        end,
    {atomic, ok} = mnesia:transaction(F).

mnesia_again() ->
    ok = mnesia:start(),
    ok = mnesia:wait_for_tables([ram, disc, only], 10000),
    say("again", facts()),
    {atomic, ok} = mnesia:delete_table(ram),
    {atomic, Restored} = mnesia:restore("backup", [{recreate_tables, [ram]}, {skip_tables, [disc, only]}]),
    say("restored", {lists:sort(Restored), facts()}),
    stopped = mnesia:stop().

facts() ->
    {atomic, Found} = mnesia:transaction(fun() -> lists:sort(mnesia:index_read(disc, 3, value)) end),
    {atomic, Selected} = mnesia:transaction(fun() ->
        lists:sort(mnesia:select(only, [{{only, '$1', '$2'}, [{'>', '$1', 45}], [{{'$1', '$2'}}]}])) end),
    [[{T, mnesia:table_info(T, size), mnesia:table_info(T, storage_type)} || T <- [ram, disc, only]],
     Found, Selected, mnesia:dirty_read(ram, 0)].
