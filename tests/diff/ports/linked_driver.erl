%% Linked-in drivers: loading, what each callback and each of the functions a driver
%% calls does, and how a driver ends its port. The driver is compiled here.
-module(linked_driver).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    Source = filename:join(os:getenv("here"), "linked_driver.c"),
    lists:foreach(fun({Name, Flag}) -> compile(Source, Name, Flag), driver(Name) end,
                  [{"linked_bytes", ""}, {"linked_vectors", "-DVECTOR"}]),
    show(missing, catch erl_ddll:load_driver(".", "linked_nowhere")),
    show(not_loaded, catch open_port({spawn_driver, "linked_bytes"}, [])).

compile(Source, Name, Flag) ->
    "" = os:cmd(lists:flatten(["cc -Wall -shared -fPIC ", Flag, " -o ", Name, ".so ", Source])).

driver(Name) ->
    io:format("~s~n", [Name]),
    show(load, erl_ddll:load_driver(".", Name)),
    show(again, erl_ddll:load_driver(".", Name)),
    show(known, lists:member(Name, element(2, erl_ddll:loaded_drivers()))),
    starts(Name),
    answers(Name),
    busy(Name),
    ends(Name),
    show(unload, erl_ddll:unload_driver(Name)),
    show(unload, erl_ddll:unload_driver(Name)),
    show(unknown, lists:member(Name, element(2, erl_ddll:loaded_drivers()))).

starts(Name) ->
    P = open_port({spawn, Name ++ " hello there"}, []),
    show(spawn, next(P)),
    show(name, erlang:port_info(P, name) =:= {name, Name ++ " hello there"}),
    port_close(P),
    [show(list_to_atom(E), catch open_port({spawn_driver, Name ++ " " ++ E}, []))
     || E <- ["general", "errno", "badarg"]],
    show(program, catch open_port({spawn_driver, Name ++ "x"}, [])).

answers(Name) ->
    P = open_port({spawn_driver, Name}, [binary]),
    [begin port_command(P, C), show(C, next(P)) end
     || C <- ["eecho", "", ["e", <<"in">>, ["par", $t], <<"s">>], "t", "z", "r"]],
    port_command(P, "w"),
    port_command(P, "r"),
    show(putenv, {next(P), os:getenv("LINKED_DRIVER")}),
    port_command(P, "t"),
    port_command(P, "c"),
    show(cancel, next(P)),
    show(cancelled, receive {P, Any} -> Any after 50 -> nothing end),
    os:unsetenv("LINKED_DRIVER"),
    Big = binary:copy(<<"0123456789">>, 10),
    show(control, port_control(P, 1, "abc")),
    show(control, port_control(P, 2, Big) =:= binary_to_list(<<Big/binary, Big/binary>>)),
    show(control, catch port_control(P, 1, Big)),
    show(control, catch port_control(P, 3, "")),
    Term = {[1, 2.0, "three"], #{four => <<5>>}, self(), make_ref()},
    show(call, erlang:port_call(P, 5, Term) =:= Term),
    show(call, erlang:port_call(P, 5, small)),
    show(call, catch erlang:port_call(P, 6, small)),
    P ! {self(), {command, "esent"}},
    show(sent, next(P)),
    show(io, [erlang:port_info(P, I) || I <- [input, output]]),
    P ! {self(), close},
    show(closed, next(P)),
    show(exit, receive {'EXIT', P, R} -> R after 2000 -> none end).

%% A sender waits while its port is busy.
busy(Name) ->
    P = open_port({spawn_driver, Name}, []),
    port_command(P, "b"),
    show(nosuspend, port_command(P, "enow", [nosuspend])),
    show(waited, port_command(P, "elater")),
    show(first, next(P)),
    show(second, next(P)),
    port_close(P),
    receive {'EXIT', P, _} -> ok after 2000 -> ok end.

ends(Name) ->
    [begin
         P = open_port({spawn_driver, Name}, []),
         M = erlang:monitor(port, P),
         port_command(P, C),
         show(C, {receive {'EXIT', P, R} -> R after 2000 -> none end,
                  receive {'DOWN', M, port, P, Why} -> Why after 2000 -> none end,
                  erlang:port_info(P), lists:member(P, element(2, process_info(self(), links)))})
     end || C <- ["n", "a", "p", "o", "x"]].

next(P) -> receive {P, What} -> What after 2000 -> none end.

show(What, {'EXIT', {Reason, _}}) -> io:format("  ~0p raises ~0p~n", [What, Reason]);
show(What, Value) -> io:format("  ~0p: ~0p~n", [What, Value]).
