%% gen_event: handlers added, called, swapped, removed, crashing.
-module(behaviour_event).
-behaviour(gen_event).
-export([main/0, init/1, handle_event/2, handle_call/2, handle_info/2, terminate/2]).
main() ->
    process_flag(trap_exit, true),
    {ok, E} = gen_event:start_link({local, events}),
    t:p(gen_event:add_handler(E, ?MODULE, {self(), one})), t:p(gen_event:add_handler(events, {?MODULE, two}, {self(), two})),
    t:p(gen_event:add_handler(E, ?MODULE, {self(), again})),
    t:p(gen_event:which_handlers(E)),
    t:p(gen_event:notify(E, hello)), t:p(gen_event:sync_notify(E, world)), t:p(t:flush()),
    t:p(gen_event:call(E, ?MODULE, name)), t:p(gen_event:call(E, {?MODULE, two}, name)), t:p(gen_event:call(E, {?MODULE, three}, name)),
    E ! some_info, t:p(gen_event:call(E, ?MODULE, name)), t:p(t:flush()),
    t:p(gen_event:swap_handler(E, {{?MODULE, two}, swap}, {{?MODULE, three}, {self(), three}})), t:p(t:flush()),
    gen_event:notify(E, crash), t:p(length(gen_event:which_handlers(E))),
    t:p(gen_event:add_sup_handler(E, {?MODULE, sup}, {self(), sup})),
    gen_event:notify(E, remove), t:p(gen_event:which_handlers(E)), t:p(t:flush()),
    t:p(gen_event:add_sup_handler(E, {?MODULE, sup}, {self(), sup})),
    t:p(gen_event:delete_handler(E, {?MODULE, sup}, args)), t:p(gen_event:delete_handler(E, nobody, args)), t:p(t:flush()),
    t:p(gen_event:add_handler(E, {?MODULE, bad}, refuse)), t:p(gen_event:add_handler(E, no_such_module, x)),
    t:p(gen_event:call(E, {?MODULE, three}, bad_request)), t:p(t:flush()),
    t:p(gen_event:add_handler(E, {?MODULE, last}, {self(), last})),
    t:p(gen_event:stop(E)), t:p(t:flush()).

init({{To, Name}, {swapped, Old}}) -> To ! {swapped_in, Name, Old}, {ok, {To, Name}};
init({To, Name}) -> {ok, {To, Name}};
init(refuse) -> {error, refused}.
handle_event(crash, {_, one}) -> error(crashed);
handle_event(remove, {_, sup}) -> remove_handler;
handle_event(X, S = {To, Name}) -> To ! {Name, X}, {ok, S}.
handle_call(name, S = {_, Name}) -> {ok, Name, S};
handle_call(bad_request, _) -> nonsense.
handle_info(X, S = {To, Name}) -> To ! {info, Name, X}, {ok, S}.
terminate(swap, {To, Name}) -> To ! {swapped_out, Name}, {swapped, Name};
terminate(Why, {To, Name}) -> To ! {terminated, Name, case Why of {error, _} -> error; _ -> Why end}, done.
