%% gen_server: every way that init may end, names, enter_loop, timeouts in start.
-module(gs_init_forms).
-export([main/0]).
-export([init/1, handle_call/3, handle_cast/2]).
main() ->
    process_flag(trap_exit, true), [t:p(X, {norm(t:c(fun() -> gen_server:start(?MODULE, X, []) end)), norm(t:c(fun() -> gen_server:start_link(?MODULE, X, []) end)), norm(t:c(fun() -> gen_server:start_monitor(?MODULE, X, []) end)), [t:plain(M) || M <- fl()]}) || X <- [ok, {stop, no}, ignore, bad, crash, throw_ok, {exit, out}, {kill, self}]],
    t:p(norm(gen_server:start(?MODULE, slow, [{timeout, 5}]))),
    t:p([t:plain(M) || M <- fl()]), {ok, P} = gen_server:start({local, gs_nm}, ?MODULE, ok, []),
    t:p(element(1, gen_server:start({local, gs_nm}, ?MODULE, ok, [])) =:= error),
    t:p(norm(gen_server:start({global, gs_nm}, ?MODULE, ok, []))),
    t:p(norm(gen_server:start({global, gs_nm}, ?MODULE, ok, []))),
    t:p(norm(gen_server:start({via, global, gs_v}, ?MODULE, ok, []))),
    t:p([gen_server:call(N, who) =/= P || N <- [{global, gs_nm}, {via, global, gs_v}]]),
    t:p([t:c(fun() -> gen_server:call(N, who, 50) end) || N <- [nobody, {global, nobody}, {via, global, nobody}]]),
    t:p([t:c(fun() -> gen_server:cast(N, x) end) || N <- [nobody, {global, nobody}, {nobody, node()}]]), [t:pc(N, fun() -> gen_server:start(N, ?MODULE, ok, []) end) || N <- ["bad", {local, "x"}, {bad, x}]], Q = proc_lib:spawn(fun() -> register(gs_e, self()), gen_server:enter_loop(?MODULE, [], st, {local, gs_e}) end), timer:sleep(20),
    t:p(gen_server:call(gs_e, who) =:= Q),
    t:p([gen_server:stop(X) || X <- [gs_nm, gs_e, {global, gs_nm}]]),
    t:pc(fun() -> gen_server:stop(gs_nm) end),
    t:p(gen_server:multi_call([node()], nobody, x)).
norm({ok, {P, M}}) when is_pid(P), is_reference(M) -> demonitor(M, [flush]), ok_mon; norm({error, {R, St}}) when is_list(St) -> {error, R}; norm(X) -> t:plain(X).
fl() -> receive {'EXIT', P, {R, St}} when is_list(St) -> [{'EXIT', P, R} | fl()]; M -> [M | fl()] after 5 -> [] end.
init(ok) -> {ok, st}; init({stop, R}) -> {stop, R}; init(ignore) -> ignore; init(bad) -> bad; init(crash) -> error(crash); init(throw_ok) -> throw({ok, thrown}); init({exit, R}) -> exit(R); init({kill, self}) -> exit(self(), kill),
    receive x -> ok end; init(slow) -> timer:sleep(200), {ok, st}.
handle_call(who, _, S) -> {reply, self(), S}.
handle_cast(_, S) -> {noreply, S}.
