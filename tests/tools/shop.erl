%% A little of an application: what the projects of tests/tools are made of.
-module(shop).
-behaviour(gen_server).
-export([start_link/0, add/2, total/0, price/1, init/1, handle_call/3, handle_cast/2]).

-ifdef(TEST).
-include_lib("eunit/include/eunit.hrl").

price_test_() ->
    [?_assertEqual(6, price(2)), ?_assertError(function_clause, price(-1))].
total_test() ->
    {ok, _} = start_link(),
    ok = add(apple, 2),
    ok = add(pear, 3),
    ?assertEqual(15, total()).
-endif.

-spec start_link() -> {ok, pid()} | ignore | {error, term()}.
start_link() ->
    gen_server:start_link({local, ?MODULE}, ?MODULE, [], []).

-spec add(atom(), non_neg_integer()) -> ok.
add(What, N) ->
    gen_server:call(?MODULE, {add, What, N}).

-spec total() -> non_neg_integer().
total() ->
    gen_server:call(?MODULE, total).

price(N) when N >= 0 ->
    N * 3.

init([]) ->
    {ok, #{}}.

handle_call({add, What, N}, _, Items) ->
    {reply, ok, maps:update_with(What, fun(M) -> M + N end, N, Items)};
handle_call(total, _, Items) ->
    {reply, lists:sum([price(N) || N <- maps:values(Items)]), Items}.

handle_cast(_, Items) ->
    {noreply, Items}.
