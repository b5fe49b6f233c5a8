%% What `+` flags set, as a machine started with them says, and which values are refused.
-module(machine_flags).
-export([main/0, told/0]).

main() ->
    %% The machine that this runs on may have been given flags there.
    [os:unsetenv(Name) || Name <- ["ERL_FLAGS", "ERL_AFLAGS", "ERL_ZFLAGS"]],
    [io:format("~ts~n~ts~n", [Flags, started(Flags)]) || Flags <- taken()],
    [io:format("~ts: ~ts~n", [Flags, refused(Flags)]) || Flags <- wrong()].

%% Many at once, as each start takes its time.
taken() ->
    ["+S 2:2 +SDcpu 2:2 +A 4 +e 20000 +t 2000000 +Q 2000 +zosrl 10 +zdntgc 5 +R " ++ integer_to_list(release() - 1) ++ " +T 3 +C single_time_warp +L",
     "+S 2:2 +SDcpu 2:2 +hms 1000 +hmbs 100000 +hmax 100000000 +hmaxk false +hmaxel false +hmqd off_heap +zdbbl 100",
     "+S 6:3 +SDcpu 4:2 +SDio 5 +c false +C multi_time_warp +zdntgc infinity +ec +spp true +r",
     "+S 6 +S 3:3 +SP 50 +SDPcpu 50 +A0 +e 5 +P5000 +h500 +cfalse +ns +dcg4 +MMmcs30 +MBasaobf",
     "+S 2:2 +SDcpu 2:2 +swt high +sws legacy +sss 100 +sbwt none +zebwt none +rg 4 +IOt 2 +IOp 2 +Mea min +MHsbct 512 +Muacul de"].

release() -> list_to_integer(erlang:system_info(otp_release)).

wrong() ->
    ["+A 2000", "+a 1", "+e -1", "+t 100", "+Q 100", "+P 10", "+P 200000000", "+hms 0", "+hmbs x", "+hpds 0",
     "+hmax -1", "+hmaxk x", "+hmaxel maybe", "+hmqd bad", "+C x", "+T 10", "+R 20", "+R 26", "+SDcpu x", "+SDcpu 2000",
     "+SDPcpu x", "+SDio 0", "+SDio 2000", "+S 2:4", "+S 2000", "+S x", "+SP x", "+SP -1", "+sbt x", "+stbt x", "+scl x",
     "+sfwi -1", "+sub x", "+swct x", "+swt x", "+swtdcpu x", "+swtdio x", "+sws x", "+sss 1", "+sssdcpu 1",
     "+sssdio 99999", "+spp x", "+sbwt x", "+sbwtdcpu x", "+sbwtdio x", "+zdntgc x", "+zdntgc 100000001", "+zosrl 0",
     "+zdbbl 0", "+zebwt x", "+rg x", "+rg -1", "+dcg5x5 +dcgx", "+IOp 2", "+IOp 0", "+IOp x", "+IOt 0", "+IOPp 200",
     "+IOPt x", "+IOs x", "+n x", "+W x", "+Wx", "+fnux", "+fnx", "+pc x", "+JPperf x", "+JDdump x", "+MBas x",
     "+MMmcs x", "+Mea x", "+Mlpm x", "+Mdai x", "+Mu x", "+Muacul x", "+MHsbct x", "+MHx 2", "+MXx 2", "+M x",
     "+MSe maybe", "+MBcp x", "+MIscs x", "+MMscrpm maybe", "+Mim true", "+MBatags code", "+MIe false", "+MTacul 0"].

started(Flags) ->
    Out = run(Flags ++ " -pa " ++ filename:dirname(code:which(?MODULE)) ++ " -s " ?MODULE_STRING " told"),
    string:trim(Out, trailing, "\n").

%% The first line, and the status.
refused(Flags) ->
    Lines = [string:trim(L) || L <- string:lexemes(run(Flags ++ " -s erlang halt"), "\n")],
    [hd(Lines), ", ", lists:last(Lines)].

run(Flags) ->
    {ok, [[Program]]} = init:get_argument(progname),
    os:cmd(Program ++ " " ++ Flags ++ " -kernel logger_level none -noshell -noinput 2>&1; echo $?").

told() ->
    [io:format("~w: ~w~n", [I, erlang:system_info(I)]) || I <- items()],
    P = spawn(fun() -> receive stop -> ok end end),
    io:format("process: ~w~n", [element(2, process_info(P, garbage_collection)) -- [{minor_gcs, 0}]]),
    M = monitor(time_offset, clock_service),
    io:format("offset: ~w~n", [[erlang:system_info(time_offset), erlang:system_flag(time_offset, finalize),
                                erlang:system_info(time_offset)]]),
    case erlang:system_info(time_warp_mode) of
        single_time_warp -> receive {'CHANGE', M, Type, Item, O} -> io:format("~w ~w ~w~n", [Type, Item, O =:= erlang:time_offset()]) end;
        _ -> ok
    end,
    io:format("queue: ~w~n", [process_info(P, message_queue_data)]),
    io:format("table: ~w~n", [ets:info(ets:new(t, []), compressed)]),
    io:format("line: ~w~n", [[I || {_, told, _, I} <- try error(x) catch _:_:S -> S end, I =/= []] =/= []]),
    io:format("atoms: ~w, ports: ~w~n", [erlang:system_info(atom_limit), erlang:system_info(port_limit)]),
    halt().

items() ->
    [thread_pool_size, ets_limit, process_limit, min_heap_size, min_bin_vheap_size, max_heap_size, garbage_collection,
     message_queue_data, time_correction, time_warp_mode, tolerant_timeofday, modified_timing_level, compat_rel, dirty_cpu_schedulers,
     dirty_cpu_schedulers_online, dirty_io_schedulers, schedulers, schedulers_online, multi_scheduling,
     delayed_node_table_gc, outstanding_system_requests_limit, dist_buf_busy_limit, ets_always_compress,
     ets_realloc_moves, port_parallelism].
