%% gen_server: calls, casts, timeouts, continue, stop, names, replies from afar.
-module(behaviour_server).
-behaviour(gen_server).
-export([main/0, init/1, handle_call/3, handle_cast/2, handle_info/2, handle_continue/2, terminate/2, code_change/3, format_status/2]).
main() ->
    process_flag(trap_exit, true),
    {ok, P} = gen_server:start_link({local, srv}, ?MODULE, self(), []),
    t:p(gen_server:start_link({local, srv}, ?MODULE, self(), [])),
    t:p(t:flush()),
    t:p([gen_server:call(srv, {add, N}) || N <- [1, 2, 3]]),
    t:p(gen_server:cast(srv, {add, 10})), t:p(gen_server:call(P, get)),
    t:p(gen_server:call(P, {later, 20})),
    t:pc(fun() -> gen_server:call(P, never, 20) end),
    t:pc(fun() -> gen_server:call(nobody, x) end),
    t:p(gen_server:cast(nobody, x)),
    t:p(gen_server:call(P, {continue, 5})), t:p(gen_server:call(P, get)),
    P ! hello, t:p(receive M -> M end),
    t:p(gen_server:call(P, {timeout, 10})), t:p(receive M1 -> M1 end),
    R1 = gen_server:send_request(P, get), R2 = gen_server:send_request(P, {add, 1}),
    t:p(gen_server:wait_response(R2, 1000)), t:p(gen_server:receive_response(R1, 1000)),
    C0 = gen_server:reqids_new(), C1 = gen_server:send_request(P, get, one, C0), C2 = gen_server:send_request(P, get, two, C1),
    {A1, L1, C3} = gen_server:receive_response(C2, 1000, true), {A2, L2, C4} = gen_server:receive_response(C3, 1000, true),
    t:p({lists:sort([{L1, A1}, {L2, A2}]), gen_server:reqids_size(C4)}),
    t:p(gen_server:multi_call([node()], srv, get)), t:p(gen_server:abcast(srv, {add, 1})),
    t:p(sys:get_state(P)), t:p(sys:replace_state(P, fun({T, N}) -> {T, N * 2} end)),
    {status, _, {module, Mod}, [_, running, _, _, Misc]} = sys:get_status(P),
    t:p({Mod, [X || {data, X} <- Misc]}),
    sys:suspend(P), t:pc(fun() -> gen_server:call(P, get, 20) end), t:p(sys:change_code(P, ?MODULE, old, extra)), sys:resume(P), t:p(gen_server:call(P, get)),
    t:p(gen_server:stop(P, normal, 1000)), t:p(t:flush()),
    t:pc(fun() -> gen_server:stop(srv) end),
    {ok, Q} = gen_server:start(?MODULE, self(), [{timeout, 500}]), M2 = monitor(process, Q), gen_server:cast(Q, quit),
    t:p([receive Y -> Y end, receive {'DOWN', M2, _, _, W} -> W end]),
    {ok, Z} = gen_server:start_monitor(?MODULE, self(), []), {Zp, Zr} = Z, exit(Zp, kill), t:p(receive {'DOWN', Zr, _, _, V} -> V end),
    t:p(gen_server:start(?MODULE, slow, [{timeout, 30}])).

init(slow) -> timer:sleep(1000), {ok, slow};
init(To) -> {ok, {To, 0}}.
handle_call({add, N}, _, {T, S}) -> {reply, S + N, {T, S + N}};
handle_call(get, _, S = {_, N}) -> {reply, N, S};
handle_call({later, Ms}, From, S) -> erlang:send_after(Ms, self(), {reply, From}), {noreply, S};
handle_call(never, _, S) -> {noreply, S};
handle_call({continue, N}, _, S) -> {reply, ok, S, {continue, N}};
handle_call({timeout, Ms}, _, S) -> {reply, ok, S, Ms}.
handle_cast({add, N}, {T, S}) -> {noreply, {T, S + N}};
handle_cast(quit, S) -> {stop, {shutdown, quit}, S}.
handle_info({reply, From}, S) -> gen_server:reply(From, finally), {noreply, S};
handle_info(hello, S = {T, _}) -> T ! hello_back, {noreply, S};
handle_info(timeout, S = {T, _}) -> T ! timed_out, {noreply, S}.
handle_continue(N, {T, S}) -> {noreply, {T, S * N}}.
terminate(Why, {T, _}) -> T ! {terminated, Why}.
code_change(Old, {T, N}, Extra) -> T ! {change, Old, Extra}, {ok, {T, N + 1000}}.
format_status(normal, [_, {_, N}]) -> [{data, {formatted, N}}];
format_status(terminate, _) -> hidden.
