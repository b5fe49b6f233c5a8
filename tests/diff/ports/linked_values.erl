%% Linked-in drivers: the terms they build, what their output and queue functions do, and what the others
%% return. The driver is compiled here, with a lock for the driver and with one for each port.
%% OTP 27 and 29 themselves end by SIGSEGV here.
%% until 27
-module(linked_values).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    [driver(Name, Flags) || {Name, Flags} <- [{"linked_values", "0"}, {"linked_values_p", "PORT_LOCKING"}]].

driver(Name, Flags) ->
    Here = os:getenv("here"),
    "" = os:cmd(lists:flatten(["cc -Wall -shared -fPIC -I", Here, " -DNAME='\"", Name, "\"' -DFLAGS=", Flags, " -o ",
                               Name, ".so ", filename:join(Here, "linked_values.c")])),
    ok = erl_ddll:load_driver(".", Name),
    [part(Name, Options, Part) || Options <- [[], [binary]], Part <- lists:seq(0, 5)],
    [part(Name, Options, 1) || Options <- [[in], [out], [{packet, 2}], [stream]]],
    t:p(unload, erl_ddll:unload_driver(Name)).

part(Name, Options, Part) ->
    P = open_port({spawn_driver, Name}, Options),
    io:format("~p ~p ~ts~n", [Options, Part, try port_control(P, Part, "") catch _:Why -> atom_to_list(Why) end]),
    told(P),
    port_close(P).

told(P) ->
    receive
        P -> t:p(port), told(P);
        Me when Me =:= self() -> t:p(self), told(P);
        {'EXIT', _, normal} -> told(P);
        {P, What} -> t:p({port, What}), told(P);
        What when is_map(What), map_size(What) > 32 -> t:p(lists:sort(maps:to_list(What))), told(P);
        What -> t:p(What), told(P)
    after 50 -> ok
    end.
