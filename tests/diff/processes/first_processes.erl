%% The emulator's own processes: their pids, where they started, and their priorities.
-module(first_processes).
-export([main/0]).

main() ->
    [t:p({pid_to_list(P), process_info(P, [registered_name, initial_call, priority, trap_exit, links])})
     || P <- processes(), erts_internal:is_system_process(P)].
