%% Parts of large binaries in a crash dump, as OTP's crashdump_viewer reads them: parts of one binary
%% are in the same section, at their offsets. A process that runs while the dump begins has its
%% literals and binaries in it too.
-module(crash_dump_binaries).
-export([main/0, dies/0]).

main() ->
    {ok, [[Program]]} = init:get_argument(progname),
    os:cmd("ERL_CRASH_DUMP=parts.dump ERL_CRASH_DUMP_SECONDS=-1 " ++ Program ++ " -noshell -noinput -pa " ++
               filename:dirname(code:which(?MODULE)) ++ " -s " ?MODULE_STRING " dies 2>&1"),
    {ok, _} = crashdump_viewer:start_link(),
    register(cdv_progress_handler, self()),
    ok = crashdump_viewer:read_file("parts.dump"),
    t:p(read()),
    {ok, All, _} = crashdump_viewer:processes(),
    {Whole, Parts, Unaligned, Small} = held("holder", All),
    ['#CDVBin', 0, 255, Section] = Whole,
    t:p([{Offset, Size, At =:= Section, bytes(Part)} || ['#CDVBin', Offset, Size, At] = Part <- tuple_to_list(Parts)]),
    ['#CDVBin', _, 65, _] = Unaligned,
    t:p(byte_size(bytes(Unaligned))),
    t:p(Small),
    {Literal, ['#CDVBin', 65, 65, Section]} = held("runner", All),
    t:p(Literal).

held(Name, All) ->
    [Pid] = [element(2, P) || P <- All, element(3, P) =:= Name],
    {ok, Details, Warnings} = crashdump_viewer:proc_details(pid_to_list(Pid)),
    t:p({Name, Warnings}),
    [Held] = [D || F <- tuple_to_list(Details), is_list(F), {held, D} <- F],
    Held.

bytes(['#CDVBin', Offset, Size, At]) ->
    {ok, Bytes} = crashdump_viewer:expand_binary({Offset, Size, At}),
    Bytes.

read() ->
    receive
        {progress, {ok, done}} -> done;
        {progress, {error, Reason}} -> Reason;
        {progress, _} -> read()
    end.

dies() ->
    Whole = list_to_binary(lists:seq(1, 255)),
    <<A:65/binary, B:65/binary, C/binary>> = Whole,
    <<_:2, Unaligned:65/binary, _/bits>> = Whole,
    P = spawn(fun() ->
                      put(held, {Whole, {A, B, C}, Unaligned, binary:part(Whole, 9, 4)}),
                      receive stop -> ok end
              end),
    register(holder, P),
    wait(P),
    R = spawn(fun() -> put(held, {["of", 1, {literal}], B}), register(runner, self()), run(0) end),
    running(R),
    halt("over").

run(N) -> run((N + 1) band 16#ffff).

running(R) ->
    case process_info(R, registered_name) of
        {registered_name, runner} -> ok;
        _ -> timer:sleep(5), running(R)
    end.

wait(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        _ -> timer:sleep(5), wait(P)
    end.
