%% Groups in parallel, repeated and in sequence, a test that takes too long, one that fails and one
%% that is skipped for it; alone, and within the project that rebar3 makes of shop.erl.
-module(shop_SUITE).
-include_lib("common_test/include/ct.hrl").
-export([suite/0, all/0, groups/0, init_per_suite/1, end_per_suite/1, init_per_group/2, end_per_group/2]).
-export([one/1, two/1, three/1, slow/0, slow/1, bad/1]).

suite() ->
    [{timetrap, {seconds, 30}}].

%% In the project only what passes.
all() ->
    case code:which(shop) of
        non_existing -> [{group, side_by_side}, {group, again}, one, slow, {group, in_order}];
        _ -> [{group, side_by_side}]
    end.

groups() ->
    [{side_by_side, [parallel], [one, two, three]},
     {again, [{repeat, 3}], [one]},
     {in_order, [sequence], [bad, one]}].

init_per_suite(Config) -> [{started, true} | Config].
end_per_suite(_) -> ok.
init_per_group(Name, Config) -> [{group, Name} | Config].
end_per_group(_, _) -> ok.

one(Config) ->
    true = ?config(started, Config),
    ct:log("in ~p", [proplists:get_value(group, Config)]),
    {comment, "fine"}.
two(_) -> ct:sleep(20).
three(_) -> [3] = [X || X <- lists:seq(1, 3), X > 2].

slow() -> [{timetrap, 500}].
slow(_) -> timer:sleep(60000).

bad(Config) -> [] = ?config(started, Config).
