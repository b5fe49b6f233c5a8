%% What proc_lib and gen_server report of a crash, caught as terms by a logger
%% handler.
-module(crash_reports).
-behaviour(gen_server).
-export([main/0, log/2, init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, work/1]).
main() ->
    process_flag(trap_exit, true),
    ok = logger:set_primary_config(level, all),
    ok = logger:add_handler(catcher, ?MODULE, #{config => #{to => self()}}),
    logger:remove_handler(default),
    [begin t:p(case_of, What), run(What) end || What <- [{call, boom}, {call, throw}, {call, exit}, {call, bad_reply}, {call, stop}, {cast, boom},
                                                          {cast, stop_normal}, {info, boom}, {info, stop_shutdown}, {call, stop_no_reply}]],
    [begin t:p(proc_case, R), Pid = proc_lib:spawn_link(?MODULE, work, [R]), receive {'EXIT', Pid, Why} -> t:p(exit, no_lines(Why)) end, reports() end || R <- [error, throw, exit, normal, shutdown]],
    t:p(start, no_lines(gen_server:start_link(?MODULE, bad_init, []))), t:p(flush_exit()), reports(),
    t:p(start, gen_server:start(?MODULE, stop_init, [])), reports(), t:p(flush_exit()),
    t:p(start, gen_server:start(?MODULE, ignore, [])), reports(),
    t:p(start, no_lines(gen_server:start(?MODULE, wrong, []))), reports().

run({How, What}) ->
    {ok, Pid} = gen_server:start_link(?MODULE, state0, []),
    Answer = case How of
                 call -> t:c(fun() -> gen_server:call(Pid, What) end);
                 cast -> gen_server:cast(Pid, What);
                 info -> Pid ! What, ok
             end,
    t:p(answer, no_lines(Answer)),
    receive {'EXIT', Pid, R} -> t:p(exit, no_lines(R)) end,
    reports().

flush_exit() -> receive {'EXIT', _, R} -> no_lines(R) after 100 -> none end.

reports() ->
    receive {report, #{level := L, msg := Msg, meta := Meta}} ->
            t:p(L, no_lines(maps:with([domain, error_logger], Meta))), show(Msg), reports()
    after 50 -> ok end.

show({report, #{label := Label} = R}) -> t:p(Label, no_lines(pick(maps:remove(label, R))));
show({report, R}) -> t:p(no_lines(R));
show({string, S}) -> t:p({string, S});
show({F, A}) -> t:p({F, no_lines(A)}).

%% Of a crash report what is not about memory and links.
pick(#{report := [Info, Links]} = R) ->
    R#{report := [[I || I = {K, _} <- Info, lists:member(K, [initial_call, registered_name, error_info, message_queue_len, messages, dictionary, trap_exit, status])], length(Links)]};
pick(R) -> R.

no_lines({M, F, A, [{file, _} | _]}) -> {M, F, no_lines(A)};
no_lines({M, F, A, []}) when is_atom(M), is_atom(F) -> {M, F, no_lines(A)};
no_lines(L) when is_list(L), length(L) > 0 -> [no_lines(X) || X <- L];
no_lines(T) when is_tuple(T) -> list_to_tuple([no_lines(X) || X <- tuple_to_list(T)]);
%% The keys in their own order: that of atoms in a map since OTP 26 is the order in which the
%% modules loaded side by side at the start came.
no_lines(M) when is_map(M) -> {map, lists:sort([{K, no_lines(V)} || {K, V} <- maps:to_list(M)])};
no_lines(X) -> X.

log(Event, #{config := #{to := To}}) -> To ! {report, Event}.

init(bad_init) -> error(cannot);
init(stop_init) -> {stop, enough};
init(ignore) -> ignore;
init(wrong) -> what;
init(S) -> put(key, value), {ok, S}.
handle_call(boom, _, S) -> {reply, t:id(1) + t:id(a), S};
handle_call(throw, _, _) -> throw(thrown);
handle_call(exit, _, _) -> exit(left);
handle_call(bad_reply, _, _) -> bad;
handle_call(stop, _, S) -> {stop, {shutdown, asked}, bye, S};
handle_call(stop_no_reply, _, S) -> {stop, odd, S}.
handle_cast(boom, S) -> {noreply, hd(t:id([])), S};
handle_cast(stop_normal, S) -> {stop, normal, S}.
handle_info(boom, S) -> {noreply, maps:get(no_key, #{}), S};
handle_info(stop_shutdown, S) -> {stop, shutdown, S}.
terminate(_, _) -> ok.

work(error) -> error({bad, thing}, [arg]);
work(throw) -> throw(up);
work(exit) -> exit({gone, 1});
work(normal) -> exit(normal);
work(shutdown) -> exit({shutdown, x}).
