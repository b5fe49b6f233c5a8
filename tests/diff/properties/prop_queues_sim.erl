%% Random interleavings of calls to a server, with timeouts of nothing, casts and stops.
-module(prop_queues_sim).
-export([main/0]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, handle_continue/2]).
main() ->
    g:seed(23), {ok, P} = gen_server:start(?MODULE, [], []),
    t:p(erlang:phash2([begin X = g:small(), case g:int(7) of 0 -> gen_server:call(P, {add, X}); 1 -> gen_server:cast(P, {add, X}); 2 -> P ! {add, X}, sent; 3 -> gen_server:call(P, get); 4 -> R = gen_server:send_request(P, {add, X}), gen_server:wait_response(R, 5000); 5 -> gen_server:call(P, later); 6 -> A = gen_server:send_request(P, get), B = gen_server:send_request(P, {add, X}), {gen_server:receive_response(B, 5000), gen_server:receive_response(A, 5000)} end end || _ <- lists:seq(1, 500)])), C = gen_server:reqids_new(), C2 = lists:foldl(fun(I, Acc) -> gen_server:send_request(P, {add, I}, {label, I}, Acc) end, C, lists:seq(1, 20)),
    t:p(gen_server:reqids_size(C2)),
    t:p(collect(C2, [])),
    t:p(gen_server:call(P, get)),
    t:p(gen_server:stop(P)),
    t:p(t:flush()).
collect(C, A) -> case gen_server:wait_response(C, 5000, true) of no_request -> lists:reverse(A); {{reply, _}, L, C2} -> collect(C2, [L | A]) end.
init(_) -> {ok, 0}.
handle_call({add, X}, _, S) -> {reply, S + X, S + X}; handle_call(get, _, S) -> {reply, S, S}; handle_call(later, F, S) -> {noreply, S, {continue, F}}.
handle_cast({add, X}, S) -> {noreply, S - X}.
handle_info({add, X}, S) -> {noreply, S * 2 rem 1000 + X}.
handle_continue(F, S) -> gen_server:reply(F, {later, S}), {noreply, S}.
