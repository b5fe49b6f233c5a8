%% Fills memory until an allocation fails, in several ways. The node has to end there.
-module(exhaust).
-export([main/1]).

main(["peak"]) ->
    {ok, Status} = file:read_file("/proc/self/status"),
    {match, [KB]} = re:run(Status, "VmPeak:\\s*(\\d+)", [{capture, all_but_first, binary}]),
    io:format("~s~n", [KB]),
    halt();
main(["binaries"]) -> binaries([]);
main(["one_binary"]) -> byte_size(binary:copy(<<0>>, 4_000_000_000));
main(["one_list"]) -> length(lists:seq(1, 300_000_000));
main(["heap"]) -> heap([]);
main(["table"]) -> table(ets:new(?MODULE, [public]), 0);
main(["processes"]) -> processes_();
main(["mailbox"]) -> mailbox(spawn(fun() -> receive never -> ok end end)).

binaries(L) -> binaries([binary:copy(<<0>>, 10_000_000) | L]).
heap(L) -> heap([{a, b, c} | L]).
table(T, N) -> ets:insert(T, {N, lists:seq(1, 100)}), table(T, N + 1).
processes_() -> spawn(fun() -> Kept = lists:seq(1, 10_000), receive never -> Kept end end), processes_().
mailbox(Pid) -> Pid ! lists:seq(1, 1000), mailbox(Pid).
