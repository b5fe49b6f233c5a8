%% The terms of a process in a crash dump, as OTP's crashdump_viewer reads them.
-module(crash_dump_terms).
-export([main/0, dies/0, holds/3]).

main() ->
    {ok, [[Program]]} = init:get_argument(progname),
    os:cmd("ERL_CRASH_DUMP=it.dump ERL_CRASH_DUMP_SECONDS=-1 " ++ Program ++ " -noshell -noinput -pa " ++
               filename:dirname(code:which(?MODULE)) ++ " -s " ?MODULE_STRING " dies 2>&1"),
    {ok, _} = crashdump_viewer:start_link(),
    register(cdv_progress_handler, self()),
    ok = crashdump_viewer:read_file("it.dump"),
    t:p(read()),
    {ok, All, _} = crashdump_viewer:processes(),
    [[held(element(2, P)) || P <- All, element(3, P) =:= Name] || Name <- ["holder", "silent"]],
    {ok, Persistent, _} = crashdump_viewer:persistent_terms(),
    t:p([term(P) || P <- Persistent, lists:member(crash_dump_key, tuple_to_list(P))]).

read() ->
    receive
        {progress, {ok, done}} -> done;
        {progress, {error, Reason}} -> Reason;
        {progress, _} -> read()
    end.

held(Pid) ->
    {ok, Details, _} = crashdump_viewer:proc_details(pid_to_list(Pid)),
    Fields = tuple_to_list(Details),
    t:p([term(F) || F <- Fields, is_list(F), F =/= [], not is_integer(hd(F))]).

%% Without what differs from one machine to another: addresses and identities.
term(T) when is_pid(T) -> pid;
term(T) when is_reference(T) -> reference;
term(T) when is_function(T) -> function;
term(['#CDVBin' | _]) -> binary;
term(['#CDVPid' | _]) -> pid;
term({Address, "Return" ++ Rest}) when is_atom(Address) -> {return, function_of(Rest)};
term({Y, "Catch" ++ Rest}) -> {Y, 'catch', function_of(Rest)};
term(T) when is_tuple(T) -> list_to_tuple(term(tuple_to_list(T)));
term(T) when is_map(T) -> maps:from_list(term(maps:to_list(T)));
term([$<, $0, $. | _]) -> pid;
term([H | T]) -> [term(H) | term(T)];
term(T) -> T.

function_of(Text) -> lists:takewhile(fun(C) -> C =/= $+ end, tl(lists:dropwhile(fun(C) -> C =/= $( end, Text))).

dies() ->
    persistent_term:put(crash_dump_key, [1, {two, <<"three">>}, #{4 => 5}]),
    Large = binary:copy(<<"large">>, 100),
    Many = maps:from_list([{N, N * N} || N <- lists:seq(1, 40)]),
    P = spawn(?MODULE, holds, [Large, Many, {improper, [a | b]}]),
    register(holder, P),
    P ! {first, 1.5, -2.5e300, 1 bsl 100, -(1 bsl 70), <<"small">>, [], {}, "text"},
    P ! [P, make_ref(), fun() -> P end, fun lists:map/2, Large, binary:part(Large, 5, 100), #{}, #{a => {b}}, 'an atom'],
    S = spawn(fun() -> process_flag(sensitive, true), put(secret, secret), receive stop -> secret end end),
    register(silent, S),
    S ! secret,
    %% Deep, and shared so often that nobody could write each occurrence.
    D = spawn(fun() -> deep(lists:foldl(fun(_, L) -> [L] end, [], lists:seq(1, 300_000)),
                            lists:foldl(fun(_, T) -> {T, T} end, leaf, lists:seq(1, 60))) end),
    wait([P, S, D]),
    halt("over").

wait(Ps) ->
    [case process_info(P, [status, message_queue_len, current_function]) of
         [{status, waiting}, {_, _}, {_, {?MODULE, _, _}}] -> ok;
         _ -> timer:sleep(5), wait([P])
     end || P <- Ps].

deep(Deep, Shared) ->
    F = fun(X) -> {X, Shared} end,
    receive stop -> ok end,
    {Deep, Shared, F}.

holds(A, B, C) ->
    put(key, {value, "of the dictionary"}),
    X = try receive never -> ok end of R -> {R, A} catch error:E -> {E, B} end,
    {A, B, C, X}.
