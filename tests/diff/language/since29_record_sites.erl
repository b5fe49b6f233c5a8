%% since 29
%% Code that makes, updates and reads records of another module, while that module is replaced by
%% versions with other fields, defaults and visibility, deleted and purged: each instruction meets
%% many definitions.
-module(since29_record_sites).
-export([main/0, make1/1, make2/1, make0/1, update/2, updates/2, any/2, field/1, fields/1, matches/1,
         anything/1, wide/1, widened/2]).

-define(M, since29_record_sites_m).
-import_record(?M, [r, wide]).

make0(_) -> #r{}.
make1(X) -> #r{b = X}.
make2(X) -> #r{c = X, a = {X}}.
update(R, X) -> R#r{b = X}.
updates(R, X) -> R#r{c = [X], a = X}.
any(R, X) -> R#_{b = X}.
field(R) -> R#r.b.
fields(#r{a = A, b = B}) -> {A, B};
fields(_) -> no.
matches(#r{b = 1}) -> one;
matches(#_{b = B}) -> {any, B};
matches(_) -> no.
anything(R) -> R#_.b.
wide(X) -> #wide{f1 = X, f20 = {X}}.
widened(W, X) -> W#wide{f2 = X}.

%% Declarations of successive versions.
versions() ->
    [{"r", "{a = 1, b = 2, c = 3}", true},
     {"r", "{a = 1, b = 2, c = 3}", true},
     {"r", "{c = x, z = 9, b, a = y}", true},
     {"r", "{a = 1, b = 2, c = 3}", false},
     {"r", "{b = 0, c = 0}", true},
     {"r", "{zz = 0, c = [], yy = {}, b = [], a = [], xx = 0}", true},
     {"r", "{a, b, c}", true},
     {"s", "{a, b, c}", true},
     {"r", "{a = 4, b = 5, c = 6}", true}].

main() ->
    Old = lists:foldl(fun version/2, [], versions()),
    t:p(length(Old)),
    [use(R) || R <- Old],
    churn(),
    gone().

version({Name, Fields, Exported} = V, Old) ->
    t:p(V),
    load(Name, Fields, Exported),
    New = [made(F, X) || F <- [make0, make1, make2], X <- [1, b]],
    t:p(New),
    [use(R) || _ <- [1, 2], {ok, R} <- New],
    Wide = ?MODULE:wide(1),
    t:p(Wide),
    t:p([?MODULE:widened(?MODULE:widened(Wide, a), b), try_(widened, [a, b])]),
    collected(New),
    Own = [R || {ok, R} <- New],
    lists:sublist(Own, 2) ++ Old.

%% Everything again with a heap that has just been collected, and in another process.
collected(New) ->
    Self = self(),
    spawn_opt(fun() ->
                  [begin erlang:garbage_collect(), ?MODULE:make2(N) end || {ok, _} <- New, N <- [1, 2]],
                  Copies = [{R, ?MODULE:F(R, N)} || {ok, R} <- New, F <- [update, any], N <- [1]],
                  Self ! {same, [binary_to_term(term_to_binary(R)) =:= R || {_, R} <- Copies]}
              end, [link, {min_heap_size, 10}]),
    receive {same, Same} -> t:p(lists:usort(Same))
    after 100 -> ok
    end.

made(F, X) -> try_(F, [X]).

try_(F, A) ->
    try apply(?MODULE, F, A) of
        R -> {ok, R}
    catch
        C:E -> {C, E}
    end.

use(R) ->
    t:p([try_(F, [R]) || F <- [field, fields, matches, anything]]),
    t:p([try_(F, [R, 7]) || F <- [update, updates, any]]).

load(Name, Fields, Exported) ->
    Export = [["-export_record([wide", [[", ", Name] || Exported], "]).\n"]],
    F = fun(N) -> io_lib:format("f~w = ~w", [N, N]) end,
    Wide = ["-record #wide{", lists:join(", ", [F(N) || N <- lists:seq(1, 20)]), "}.\n"],
    Text = [["-module(", atom_to_list(?M), ").\n"], Export, ["-record #", Name, Fields, ".\n"], Wide],
    {ok, ?M, Code} = compile:forms([form(T) || T <- Text], [nowarn_unused_record]),
    code:purge(?M),
    {module, ?M} = code:load_binary(?M, "m.erl", Code).

form(Text) ->
    {ok, Tokens, _} = erl_scan:string(lists:flatten(Text)),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

%% Two definitions that take turns, more often than a cache bears, in versions that are purged.
churn() ->
    [begin
         load("r", lists:nth(1 + N rem 2, ["{a = 1, b = 2, c = 3}", "{q = 0, c = 1, b = 2, a = 3}"]), true),
         R = ?MODULE:make2(N),
         {{N}, 2} = ?MODULE:fields(R),
         put(last, [R | lists:sublist(get_last(), 3)]),
         [2 = ?MODULE:field(L) || L <- get(last)],
         [begin U = ?MODULE:update(L, N), N = ?MODULE:anything(U) end || L <- get(last)]
     end || N <- lists:seq(0, 39)],
    t:p(get(last)).

get_last() ->
    case get(last) of
        undefined -> [];
        Last -> Last
    end.

gone() ->
    [Last | _] = get(last),
    code:purge(?M),
    true = code:delete(?M),
    t:p(made(make1, 1)),
    code:purge(?M),
    t:p([made(F, 1) || F <- [make0, make1, make2]]),
    use(Last).
