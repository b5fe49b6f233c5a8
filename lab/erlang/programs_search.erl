%% Trees that come and go, and a search with many dead ends.
-module(programs_search).
-export([binary_trees/2, sudoku/2]).

%% Trees of depths up to that: many small ones, few large ones, and one that
%% stays.
binary_trees(Depth, _) ->
    Long = tree(Depth),
    [ok = trees(1 bsl (Depth - D + 4), D) || D <- lists:seq(4, Depth, 2)],
    Nodes = 1 bsl (Depth + 1) - 1,
    Nodes = nodes_of(Long),
    ok.

trees(Count, Depth) ->
    Nodes = Count * (1 bsl (Depth + 1) - 1),
    Nodes = lists:sum([nodes_of(tree(Depth)) || _ <- lists:seq(1, Count)]),
    ok.

tree(0) -> leaf;
tree(Depth) -> {tree(Depth - 1), tree(Depth - 1)}.

nodes_of(leaf) -> 1;
nodes_of({Left, Right}) -> 1 + nodes_of(Left) + nodes_of(Right).

%% A puzzle with few numbers given, solved so many times: of all free cells the
%% one with fewest candidates is tried first.
sudoku(Times, _) ->
    Puzzle = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..",
    Solved = "812753649943682175675491283154237896369845721287169534521974368438526917796318452",
    [Solved = solve(Puzzle) || _ <- lists:seq(1, Times)],
    ok.

solve(Text) ->
    Given = [{Cell, C - $0} || {Cell, C} <- lists:zip(lists:seq(0, 80), Text), C =/= $.],
    Free = maps:from_list([{Cell, lists:seq(1, 9)} || Cell <- lists:seq(0, 80)]),
    {ok, Board} = place_all(Given, Free, #{}),
    {ok, Full} = search(Board),
    [maps:get(Cell, Full) + $0 || Cell <- lists:seq(0, 80)].

place_all([], Free, Full) -> {ok, {Free, Full}};
place_all([{Cell, Number} | Rest], Free, Full) ->
    case place(Cell, Number, Free, Full) of
        {ok, {Free1, Full1}} -> place_all(Rest, Free1, Full1);
        dead -> dead
    end.

%% The number leaves the candidates of all cells that see this one.
place(Cell, Number, Free, Full) ->
    case drop(peers(Cell), Number, maps:remove(Cell, Free)) of
        {ok, Free1} -> {ok, {Free1, Full#{Cell => Number}}};
        dead -> dead
    end.

drop([], _, Free) -> {ok, Free};
drop([Cell | Cells], Number, Free) ->
    case Free of
        #{Cell := [Number]} -> dead;
        #{Cell := Candidates} -> drop(Cells, Number, Free#{Cell := lists:delete(Number, Candidates)});
        #{} -> drop(Cells, Number, Free)
    end.

peers(Cell) ->
    {Row, Column} = {Cell div 9, Cell rem 9},
    {Top, Left} = {Row div 3 * 3, Column div 3 * 3},
    InRow = [Row * 9 + C || C <- lists:seq(0, 8)],
    InColumn = [R * 9 + Column || R <- lists:seq(0, 8)],
    InBox = [R * 9 + C || R <- lists:seq(Top, Top + 2), C <- lists:seq(Left, Left + 2)],
    lists:delete(Cell, lists:usort(InRow ++ InColumn ++ InBox)).

search({Free, Full}) when map_size(Free) =:= 0 -> {ok, Full};
search({Free, Full}) ->
    {_, Cell, Candidates} = lists:min([{length(Cs), C, Cs} || {C, Cs} <- maps:to_list(Free)]),
    try_each(Candidates, Cell, Free, Full).

try_each([], _, _, _) -> dead;
try_each([Number | Rest], Cell, Free, Full) ->
    Found = case place(Cell, Number, Free, Full) of
                {ok, Board} -> search(Board);
                dead -> dead
            end,
    case Found of
        dead -> try_each(Rest, Cell, Free, Full);
        _ -> Found
    end.
