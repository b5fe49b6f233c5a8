%% What halt("text") leaves behind: exit status, what is said, the file, and what it tells of a
%% process and a table. Another machine like this one (VM, as the runner has it) is what ends.
-module(crash_dump).
-export([main/0, child/1]).

main() ->
    D = t:tmp("crash_dump"),
    t:p({busy, run(D, "busy", [])}),
    dump(D),
    t:p({signal, run(D, "signal", [])}),
    t:p({signal, slogan(D)}),
    [t:p({Name, Value, run(D, "plain", [{Name, Value}]), files(D)})
     || {Name, Value} <- [{"ERL_CRASH_DUMP_SECONDS", "0"}, {"ERL_CRASH_DUMP_SECONDS", "x"}, {"ERL_CRASH_DUMP_SECONDS", "20"},
                          {"ERL_CRASH_DUMP_BYTES", "0"}, {"ERL_CRASH_DUMP", "other"}, {"ERL_CRASH_DUMP", "no/such"}]],
    t:p({bytes, run(D, "plain", [{"ERL_CRASH_DUMP_BYTES", "500"}]), limited(D)}),
    file:del_dir_r(D).

%% ---- the one that ends ----
child([How]) ->
    register(the_dumped, self()),
    Tab = ets:new(the_table, [named_table, public, ordered_set]),
    ets:insert(Tab, [{N, N} || N <- lists:seq(1, 7)]),
    Other = spawn_link(fun() -> register(the_other, self()), receive never -> ok end end),
    {_, _} = spawn_monitor(fun() -> link(Other), receive never -> ok end end),
    [self() ! N || N <- [one, two, three]],
    [Other ! N || N <- [one, two]],
    timer:sleep(50),
    finish(How).

finish("busy") -> spawn(fun Loop() -> Loop() end), finish("plain");
finish("plain") -> halt("the end");
finish("signal") ->
    os:cmd("kill -USR1 " ++ os:getpid()),
    timer:sleep(10000).

%% ---- running it ----
run(D, How, Env) ->
    [file:delete(filename:join(D, F)) || F <- files(D)],
    Beams = filename:dirname(code:which(?MODULE)),
    Script = "exec $VM $VM_FLAGS -noshell -noinput -kernel logger_level none -pa " ++ Beams ++ " -run crash_dump child " ++ How,
    Clean = [{"ERL_CRASH_DUMP", false}, {"ERL_CRASH_DUMP_SECONDS", false}, {"ERL_CRASH_DUMP_BYTES", false}],
    P = open_port({spawn_executable, "/bin/sh"},
                  [{args, ["-c", Script]}, {cd, D}, {env, Clean ++ Env}, stderr_to_stdout, exit_status, binary]),
    all(P, []).

all(P, Acc) ->
    receive
        {P, {data, B}} -> all(P, [Acc, B]);
        {P, {exit_status, S}} -> {S, iolist_to_binary(Acc)}
    after 20000 -> timeout
    end.

files(D) -> {ok, Fs} = file:list_dir(D), lists:sort(Fs).

lines(D) ->
    {ok, B} = file:read_file(filename:join(D, "erl_crash.dump")),
    binary:split(B, <<"\n">>, [global]).

slogan(D) -> [L || <<"Slogan: ", L/binary>> <- lines(D)].

limited(D) ->
    {ok, B} = file:read_file(filename:join(D, "erl_crash.dump")),
    {byte_size(B), binary:part(B, byte_size(B), -38)}.

%% ---- what the file says ----
dump(D) ->
    Lines = lines(D),
    {ok, I} = file:read_file_info(filename:join(D, "erl_crash.dump")),
    t:p({mode, element(8, I) band 8#777}),
    [First, Date | _] = Lines,
    t:p({first, First, date(Date), slogan(D)}),
    t:p({last, lists:nthtail(length(Lines) - 2, Lines)}),
    Tags = lists:usort([tag(L) || <<"=", L/binary>> <- Lines]),
    t:p({has, [T || T <- [<<"atoms">>, <<"end">>, <<"ets">>, <<"loaded_modules">>, <<"memory">>, <<"mod">>, <<"no_distribution">>,
                          <<"node">>, <<"port">>, <<"proc">>, <<"proc_stack">>, <<"scheduler">>], lists:member(T, Tags)]}),
    t:p({unknown, Tags -- known()}),
    Sections = sections(Lines),
    [t:p(show(S, [<<"State">>, <<"Name">>, <<"Spawned as">>, <<"Message queue length">>, <<"Link list">>]))
     || {<<"proc:", _/binary>>, S} <- Sections, N <- [<<"Name: the_dumped">>, <<"Name: the_other">>], lists:member(N, S)],
    [t:p(show(S, [<<"Table">>, <<"Name">>, <<"Objects">>, <<"Protection">>, <<"Compressed">>]))
     || {<<"ets:", _/binary>>, S} <- Sections, lists:member(<<"Name: the_table">>, S)],
    [t:p({heads, lists:usort([head(L) || L <- S]) -- known_of_processes()}) || {<<"proc:", _/binary>>, S} <- Sections,
        lists:member(<<"Name: init">>, S)],
    [Memory] = [S || {<<"memory">>, S} <- Sections],
    t:p([head(L) || L <- Memory, head(L) =/= <<"maximum">>]),
    [Atoms] = [S || {<<"atoms">>, S} <- Sections],
    t:p([lists:member(A, Atoms) || A <- [<<"the_dumped">>, <<"'-child/1-fun-0-'">>, <<"false">>, <<"no_such_atom">>]]),
    Stacks = [L || {<<"proc_stack:", _/binary>>, S} <- Sections, L <- S],
    t:p({stack, [binary:match(L, <<"SReturn addr 0x">>) =/= nomatch
                 || L <- Stacks, binary:match(L, <<"(init:do_boot/3 + ">>) =/= nomatch]}),
    t:p({modules, [M || {<<"mod:", M/binary>>, [<<"Current size: ", _/binary>> | _]} <- Sections, M =:= <<"crash_dump">>]}).

date(<<_:3/binary, " ", _:3/binary, " ", _:2/binary, " ", _:2/binary, ":", _:2/binary, ":", _:2/binary, " ", _:4/binary>>) -> date;
date(X) -> X.

tag(L) -> hd(binary:split(L, <<":">>)).
head(L) -> hd(binary:split(L, [<<":">>, <<" = ">>])).

sections([<<"=", Tag/binary>> | T]) ->
    {Own, Rest} = lists:splitwith(fun(<<"=", _/binary>>) -> false; (_) -> true end, T),
    [{Tag, Own} | sections(Rest)];
sections([]) -> [].

show(Section, Heads) -> [line(L) || L <- Section, lists:member(head(L), Heads)].

%% How many of which kind, as pids and references differ.
line(<<"Link list: ", L/binary>>) ->
    {links, [length(binary:matches(L, X)) || X <- [<<"<">>, <<"{to,">>, <<"{from,">>]]};
line(L) -> L.

known() ->
    [<<"allocated_areas">>, <<"allocator">>, <<"atoms">>, <<"binary">>, <<"dirty_cpu_scheduler">>, <<"dirty_cpu_run_queue">>,
     <<"dirty_io_scheduler">>, <<"dirty_io_run_queue">>, <<"end">>, <<"erl_crash_dump">>, <<"ets">>, <<"fun">>, <<"hash_table">>,
     <<"index_table">>, <<"literals">>, <<"loaded_modules">>, <<"memory">>, <<"mod">>, <<"no_distribution">>, <<"node">>,
     <<"persistent_terms">>, <<"port">>, <<"proc">>, <<"proc_dictionary">>, <<"proc_heap">>, <<"proc_messages">>,
     <<"proc_stack">>, <<"scheduler">>, <<"timer">>].

known_of_processes() ->
    [<<"State">>, <<"Name">>, <<"Spawned as">>, <<"Spawned by">>, <<"Last scheduled in for">>, <<"Current call">>,
     <<"Message queue length">>, <<"Number of heap fragments">>, <<"Heap fragment data">>, <<"Link list">>, <<"Reductions">>,
     <<"Stack+heap">>, <<"OldHeap">>, <<"Heap unused">>, <<"OldHeap unused">>, <<"BinVHeap">>, <<"OldBinVHeap">>,
     <<"BinVHeap unused">>, <<"OldBinVHeap unused">>, <<"Memory">>, <<"Program counter">>, <<"arity">>, <<"Internal State">>].
