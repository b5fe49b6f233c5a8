%% erts_debug:get_internal_state(check_io_debug): descriptors that are watched in error, all, those of drivers and
%% those of libraries.
-module(check_io_debug).
-export([main/0]).

main() ->
    ok = logger:set_primary_config(level, none),
    _ = erts_debug:set_internal_state(available_internal_state, true),
    {Errors, _, Before, Libraries} = watched(),
    t:p(before, {Errors, Libraries}),
    Ports = [open_port({spawn, "cat"}, [binary]) || _ <- lists:seq(1, 5)],
    {ok, Listens} = gen_tcp:listen(0, []),
    Accepts = spawn(fun() -> gen_tcp:accept(Listens) end),
    await(fun(N) -> N >= Before + 6 end),
    t:p(opened, true),
    exit(Accepts, kill),
    ok = gen_tcp:close(Listens),
    [port_close(P) || P <- Ports],
    await(fun(N) -> N =< Before end),
    t:p(closed, true).

%% None is watched in error once all is at rest.
await(Is) ->
    t:await(fun() -> {Errors, _, N, Libraries} = watched(), {Errors, Libraries} =:= {0, 0} andalso Is(N) end).

watched() -> erts_debug:get_internal_state(check_io_debug).
