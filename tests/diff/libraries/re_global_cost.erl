%% What a global match costs grows with the subject, not with the subject's size for each match.
-module(re_global_cost).
-export([main/0]).

main() ->
    [t:p({What, cost(Run, 4000) < 6 * cost(Run, 1000)}) || {What, Run} <-
        [{run, fun(B) -> re:run(B, "[a-z]+\n", [global]) end},
         {run_unicode, fun(B) -> re:run(B, "[a-z]+\n", [global, unicode]) end},
         {run_list, fun(B) -> re:run(binary_to_list(B), "[a-z]+\n", [global]) end},
         {split, fun(B) -> re:split(B, "\n") end},
         {replace, fun(B) -> re:replace(B, "\n", "x", [global]) end},
         {string_split, fun(B) -> string:split(B, "\n", all) end},
         {scopes, fun(B) -> scopes(B, 0) end}]].

%% Reductions, without collections.
cost(Run, Lines) ->
    Text = binary:copy(<<"abcdefghi\n">>, Lines),
    Self = self(),
    Pid = spawn_opt(fun() ->
                            Before = reductions(),
                            Run(Text),
                            Self ! {self(), reductions() - Before}
                    end, [{min_heap_size, 4000000}]),
    receive {Pid, Cost} -> Cost end.

reductions() -> element(2, process_info(self(), reductions)).

scopes(B, From) when From >= byte_size(B) -> ok;
scopes(B, From) ->
    {At, 1} = binary:match(B, <<"\n">>, [{scope, {From, byte_size(B) - From}}]),
    scopes(B, At + 1).
