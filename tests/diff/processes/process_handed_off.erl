%% What others see of a process in a call that a thread makes which is no scheduler: the call.
-module(process_handed_off).
-export([main/0]).

main() ->
    [see(Kind) || Kind <- [dirty_cpu, dirty_io]].

see(Kind) ->
    P = spawn(fun() -> erts_debug:Kind(wait, 3000), exit(over) end),
    seen(P, {erts_debug, Kind, 2}),
    t:p([process_info(P, I) || I <- [current_function, status, current_location]]),
    {current_stacktrace, Stack} = process_info(P, current_stacktrace),
    t:p([{M, F, A} || {M, F, A, _} <- Stack]),
    t:p(lists:keyfind(current_function, 1, process_info(P))),
    t:p([erlang:check_process_code(P, lists), is_process_alive(P)]),
    exit(P, kill).

%% Until it is there.
seen(P, Call) ->
    case process_info(P, current_function) of
        {current_function, Call} -> ok;
        {current_function, _} -> timer:sleep(10), seen(P, Call)
    end.
