%% The system tracer hears nothing of itself, and its serials stay.
-module(seq_trace_itself).
-export([main/0]).

main() -> [t:p({N, itself(F)}) || {N, F} <- cases()], ok.

cases() ->
    [{message, fun() -> self() ! a, erlang:yield(), receive a -> ok end, seq_trace:get_token(serial) end},
     {print, fun() -> seq_trace:print(x), seq_trace:get_token(serial) end},
     {spawned, fun() ->
         Me = self(),
         P = spawn(fun() -> Me ! {serial, seq_trace:get_token(serial)}, receive x -> ok end end),
         P ! x,
         receive {serial, S} -> {S, seq_trace:get_token(serial)} end
     end},
     {monitor, fun() ->
         {P, M} = spawn_monitor(fun() -> ok end),
         receive {'DOWN', M, _, P, R} -> {R, seq_trace:get_token(serial)} end
     end},
     {echo, fun() ->
         A = spawn(fun() -> receive {From, x} -> From ! y end end),
         A ! {self(), x},
         receive y -> seq_trace:get_token(serial) end
     end},
     {ends, fun() -> process_flag(trap_exit, true), spawn_link(fun() -> ok end), exit(with_token) end}].

itself(F) ->
    {P, M} = spawn_monitor(fun() ->
        seq_trace:set_system_tracer(self()),
        [seq_trace:set_token(Flag, true) || Flag <- [send, 'receive', print]],
        seq_trace:set_token(label, lab),
        R = F(),
        seq_trace:set_token([]),
        exit({R, heard()})
    end),
    Answer = receive {'DOWN', M, process, P, Reason} -> Reason end,
    seq_trace:reset_trace(),
    Answer.

heard() ->
    receive {seq_trace, Label, {Kind, Serial, _, _, _}} -> [{Label, Kind, Serial} | heard()]
    after 100 -> []
    end.
