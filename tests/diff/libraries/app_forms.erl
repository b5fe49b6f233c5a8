%% Applications made of terms: loaded, started in order, their environment, stopped,
%% failing to start; application_controller's answers.
-module(app_forms).
-behaviour(application).
-behaviour(supervisor).
-export([main/0, start/2, stop/1, init/1, prep_stop/1, config_change/3]).
main() ->
    register(app_test, self()),
    App = fun(N, O) -> {application, N, [{description, "d " ++ atom_to_list(N)}, {vsn, "1.0"}, {modules, []}, {registered, []}, {applications, [kernel, stdlib | proplists:get_value(deps, O, [])]}, {env, [{k, N}, {shared, 1}]}, {mod, {?MODULE, proplists:get_value(arg, O, ok)}}]} end,
    t:p([application:load(App(N, O)) || {N, O} <- [{app_a, []}, {app_b, [{deps, [app_a]}]}, {app_c, [{arg, fail}]}, {app_d, [{arg, crash}]}]]), t:p(application:load(App(app_a, []))), t:p(application:start(app_b)), t:p(application:start(app_a)), t:p(application:start(app_b)), t:p(application:start(app_b)), t:p([application:start(X) || X <- [app_c, nope_app]] =/= []), t:p(err(application:start(app_c))), t:p(err(application:start(app_d))), t:p(err(application:start(nope_app))),
    t:p([application:get_env(app_a, K) || K <- [k, shared, none]]), application:set_env(app_a, shared, 2), t:p(application:get_env(app_a, shared)), t:p(application:get_env(app_a, none, default)), t:p(lists:sort(application:get_all_env(app_a))), application:unset_env(app_a, k), t:p(application:get_env(app_a, k)), t:p(lists:keyfind(app_a, 1, application:which_applications())), t:p([application:get_key(app_b, K) || K <- [description, vsn, applications, mod, bogus]]), t:p(application:get_application(?MODULE)), t:p(application:ensure_started(app_a)), t:p(application:ensure_all_started(app_b)),
    t:p(application:stop(app_a)), t:p(application:unload(app_b)), t:p(application:stop(app_b)), t:p(application:stop(app_b)), t:p(application:unload(app_b)), t:p(application:get_env(app_b, k)), t:p(lists:sort(got())), t:p(application:ensure_all_started(app_c)), [t:p(application:load(X)) || X <- [{application, bad}, {application, x, [{mod, 1}]}, bogus_app]], t:p(application:get_env(kernel, no_such_key)), t:p(lists:member(kernel, [A || {A, _, _} <- application:which_applications()])), t:p(application:set_env([{app_a, [{x, 1}]}, {app_z, [{y, 2}]}])), t:p([application:get_env(app_a, x), application:get_env(app_z, y)]), {ok, P} = start_own(), t:p(is_pid(P)).
err({error, {{shutdown, _}, _}}) -> shutdown; err({error, {{bad_return, {_, {'EXIT', {R, _}}}}, _}}) -> {crash, R}; err({error, {R, _}}) when is_atom(R) -> R; err({error, {{bad_return, R}, _}}) -> {bad_return, element(1, R)}; err({error, R}) when is_tuple(R) -> {element(1, R), tuple_size(R)}; err(X) -> X.
got() -> receive {app, X} -> [X | got()] after 20 -> [] end.
start_own() -> supervisor:start_link(?MODULE, []).
start(Type, ok) -> app_test ! {app, {start, Type}}, {ok, P} = supervisor:start_link(?MODULE, []), {ok, P, st};
start(_, fail) -> {error, refused};
start(_, crash) -> error(crashed).
prep_stop(S) -> app_test ! {app, {prep_stop, S}}, prepared.
stop(S) -> app_test ! {app, {stop, S}}.
config_change(_, _, _) -> ok.
init(_) -> {ok, {{one_for_one, 1, 1}, []}}.
