%% More that random functions are made of: helpers of their module that go round or have many
%% arguments, calls of libraries, and what else chooses, fails, catches, waits and is called late.
-module(random_more).
-export([helpers/0, control/3, library/3]).

-import(random_gen, [expr/3, pattern/2, guard/1, clauses/3, segment/2, new/0, pick/1, chance/1,
                     int/1, list/1, call/2, call/3, op/3, types/0, hidden/1]).

%% How often one goes round at most: what it collects may grow by a power each time.
-define(ROUNDS, 4).

var(V) -> {var, 1, V}.
atom(A) -> {atom, 1, A}.
tuple(Es) -> {tuple, 1, Es}.
clause(Patterns, Guard, Body) -> {clause, 1, Patterns, Guard, Body}.
rest(Patterns, Body) -> clause(Patterns, [], Body).
many(Low, High) -> lists:seq(1, Low - 1 + rand:uniform(High - Low + 1)).

%% Functions of a module that its others call: h1, h2, ... Their first argument says how often they
%% go round, the others are of these types. They don't call one another.
helpers() ->
    put(helpers, []),
    Kinds = [over_list, over_list, collect_list, over_bits, over_bits, build_bits, shuffle, shuffle,
             shuffle, messages],
    {Forms, Known} = lists:unzip([helper(name(N), Kind) || {N, Kind} <- lists:enumerate(Kinds)]),
    put(helpers, Known),
    Forms.

name(N) -> list_to_atom("h" ++ integer_to_list(N)).

helper(Name, Kind) ->
    Subject = subject(Kind),
    Types = [pick(types()) || _ <- many(case Kind of shuffle -> 4; _ -> 1 end,
                                        case Kind of shuffle -> 9; _ -> 3 end)],
    Vars = [{new(), T} || T <- Types],
    N = new(),
    Result = pick(types()),
    {Patterns, Env, Round} = round(Kind, Name, N, Vars, Result),
    Last = case Subject of [] -> []; [T] -> [{new(), T}] end,
    Again = clause([var(N) | Patterns ++ [var(V) || {V, _} <- Vars]],
                   [[op('>', var(N), int(0)) | G] || G <- or_none(guard(Env ++ Vars))], [Round]),
    Done = rest([var(new()) | [var(V) || {V, _} <- Last ++ Vars]], [expr(Result, 1, Last ++ Vars)]),
    {{function, 1, Name, 1 + length(Subject) + length(Types), [Again, Done]},
     {Name, Subject ++ Types, Result}}.

or_none([]) -> [[]];
or_none(Guard) -> Guard.

%% What is gone through, if anything is.
subject(over_list) -> [list];
subject(collect_list) -> [list];
subject(over_bits) -> [bin];
subject(build_bits) -> [bin];
subject(_) -> [].

%% Patterns of the subject, variables in them, and what is done before it goes round.
round(over_list, Name, N, Vars, _) ->
    {H, T} = {new(), new()},
    Env = [{H, any}, {T, list}],
    {[{cons, 1, var(H), var(T)}], Env, again(Name, N, [var(T)], Vars, Env ++ Vars)};
round(collect_list, Name, N, Vars, _) ->
    {H, T} = {new(), new()},
    Env = [{H, any}, {T, list}],
    Rest = again(Name, N, [var(T)], Vars, Env ++ Vars),
    {[{cons, 1, var(H), var(T)}], Env,
     pick([{cons, 1, expr(any, 1, Env ++ Vars), Rest}, tuple([expr(any, 1, Env ++ Vars), Rest]),
           op('+', expr(int, 1, Env ++ Vars), Rest)])};
round(over_bits, Name, N, Vars, _) ->
    {Bits, Env, Rest} = bits(many(1, 3)),
    {[{bin, 1, Bits}], Env, again(Name, N, [var(Rest)], Vars, Env ++ Vars)};
round(build_bits, Name, N, Vars, _) ->
    B = new(),
    Env = [{B, bin} | Vars],
    More = {bin, 1, [{bin_element, 1, var(B), default, [pick([binary, bitstring])]}
                     | [segment(1, Vars) || _ <- many(1, 2)]]},
    {[var(B)], [{B, bin}], again(Name, N, [More], Vars, Env)};
round(shuffle, Name, N, Vars, _) ->
    {[], [], again(Name, N, [], Vars, Vars)};
round(messages, Name, N, Vars, Result) ->
    V = new(),
    {P, Env} = pattern(pick(types()), 2),
    Got = fun(More) -> again(Name, N, [], Vars, More ++ Vars) end,
    {[], [],
     {'receive', 1, [clause([tuple([atom(pick([k, m])), P])], guard(Env ++ Vars), [Got(Env)]),
                     rest([{cons, 1, var(V), var('_')}], [Got([{V, any}])])],
      int(pick([0, 1])), [expr(Result, 1, Vars)]}}.

%% Most arguments go to another place as they are, so that registers change places.
again(Name, N, Subject, Vars, Env) ->
    Args = [case chance(3) of
                true -> expr(T, 1, Env);
                false -> var(element(1, pick(Vars)))
            end || {_, T} <- Vars],
    call(Name, [op('-', var(N), int(1)) | Subject ++ Args]).

%% Segments of a pattern, of which later ones may name what earlier ones found; the variables; the rest.
bits(Places) ->
    Rest = new(),
    {Segments, Env} = lists:mapfoldl(fun(_, Known) -> found(Known) end, [], Places),
    {Segments ++ [{bin_element, 1, var(Rest), default, [bitstring]}], [{Rest, bin} | Env], Rest}.

found(Known) ->
    V = new(),
    Int = [pick([big, little]), pick([signed, unsigned])],
    Sizes = [var(K) || {K, int} <- Known],
    Of = fun(Size, Types) -> {{bin_element, 1, var(V), Size, Types}, [{V, int} | Known]} end,
    case rand:uniform(9) of
        1 -> {{bin_element, 1, {string, 1, pick(["a", "ab", [1]])}, default, default}, Known};
        2 -> {{bin_element, 1, var('_'), int(pick([1, 3, 8])), default}, Known};
        3 -> Of(default, [pick([utf8, utf16, utf32])]);
        4 -> {{bin_element, 1, var(V), int(pick([16, 32, 64])), [float, pick([big, little])]}, [{V, float} | Known]};
        5 -> {{bin_element, 1, var(V), pick([int(0), int(1), int(2) | Sizes]), [pick([binary, bitstring])]},
              [{V, bin} | Known]};
        6 -> Of(pick([int(4) | Sizes]), [{unit, pick([1, 3, 8])} | Int]);
        7 -> {{bin_element, 1, int(pick([0, 1, 97])), int(pick([1, 8, 16])), default}, Known};
        _ -> Of(int(pick([1, 2, 5, 7, 8, 12, 16, 17, 24, 32, 59, 64, 72])), Int)
    end.

%% A call of a helper; in a helper itself there is none yet.
helped(T, D, E) ->
    case get(helpers) of
        [] -> expr(T, D - 1, E);
        Known ->
            Good = [H || {_, _, R} = H <- Known, R =:= T],
            {Name, Types, _} = pick(case Good of [] -> Known; _ -> Good end),
            call(Name, [pick([int(?ROUNDS), int(2), hidden(int(3))]) | [expr(A, D - 1, E) || A <- Types]])
    end.

control(T, D, E) ->
    case rand:uniform(16) of
        N when N =< 3 -> helped(T, D, E);
        4 -> tried(T, D, E);
        5 -> tried(T, D, E);
        6 -> raised(D, E);
        7 -> received(T, D, E);
        8 -> received(T, D, E);
        9 -> watched(T, D, E);
        10 -> selected(T, D, E);
        11 -> {P, Env} = pattern(pick(types()), 2),
              {'block', 1, [{match, 1, P, expr(any, D, E)}, expr(T, D, Env ++ E)]};
        12 -> {Bits, Env, _} = bits(many(1, 4)),
              {'case', 1, expr(bin, D, E), [clause([{bin, 1, Bits}], guard(Env), [expr(T, D, Env ++ E)]),
                                            rest([var('_')], [expr(T, D, E)])]};
        13 -> called(T, D, E);
        14 -> named(T, D, E);
        15 -> remembered(T, D, E);
        16 -> both(T, D, E)
    end.

%% With all the parts that it may have.
tried(T, D, E) ->
    Of = case chance(2) of true -> clauses(T, D, E); false -> [] end,
    After = case chance(3) of true -> [call(put, [atom(after_), expr(any, D - 1, E)])]; false -> [] end,
    Catches = [caught(T, D, E) || _ <- many(1, 2)],
    {'try', 1, [expr(case Of of [] -> T; _ -> any end, D, E)], Of, Catches, After}.

caught(T, D, E) ->
    {P, Env} = pattern(pick(types()), 1),
    S = new(),
    Class = pick([error, throw, exit]),
    {Stack, Body} = case rand:uniform(4) of
                        1 -> {var(S), call(erlang, raise, [atom(Class), expr(any, 1, Env ++ E), var(S)])};
                        2 -> {var(S), tuple([atom(stack), call(hd, [var(S)])])};
                        _ -> {var('_'), expr(T, D, Env ++ E)}
                    end,
    clause([tuple([atom(Class), P, Stack])], guard(Env), [Body]).

raised(D, E) ->
    case rand:uniform(3) of
        1 -> call(erlang, error, [expr(any, D - 1, E), expr(list, D - 1, E)]);
        2 -> call(erlang, raise, [atom(pick([error, throw, exit, a])), expr(any, D - 1, E), {nil, 1}]);
        3 -> call(erlang, pick([error, exit, throw]), [expr(any, D - 1, E)])
    end.

%% Some messages of which one is wanted, or none: then time is up. How long that takes may be no time.
received(T, D, E) ->
    Sent = [{op, 1, '!', call(self, []), expr(any, D - 1, E)} || _ <- many(1, 3)],
    Wanted = [begin
                  {P, Env} = pattern(pick(types()), 2),
                  clause([P], guard(Env ++ E), [expr(T, D - 1, Env ++ E)])
              end || _ <- many(1, 3)],
    Time = pick([int(0), int(0), int(1), op('band', expr(int, 0, E), int(3)), expr(float, 0, E), atom(a),
                 {op, 1, '-', int(1)}, int(1 bsl 32)]),
    Long = case Time of {integer, 1, N} when N > 3 -> [rest([var('_')], [expr(T, D - 1, E)])]; _ -> [] end,
    {'block', 1, Sent ++ [{'receive', 1, Wanted ++ Long, Time, [expr(T, D - 1, E)]}]}.

%% A process, and what is heard of its end.
watched(T, D, E) ->
    {R, V, C, W} = {new(), new(), new(), new()},
    End = fun(Tag, Value) -> call(exit, [tuple([atom(Tag), Value])]) end,
    Fails = rest([tuple([var(C), var(W), var('_')])], [call(exit, [tuple([var(C), var(W)])])]),
    X = new(),
    Fun = {'fun', 1, {clauses, [rest([], [{'try', 1, [expr(any, D - 1, E)], [rest([var(X)], [End(came_to, var(X))])],
                                          [Fails], []}])]}},
    {'block', 1, [{match, 1, tuple([var('_'), var(R)]), call(spawn_monitor, [Fun])},
                  {'receive', 1, [rest([tuple([atom('DOWN'), var(R), atom(process), var('_'), var(V)])],
                                       [expr(T, D - 1, [{V, any} | E])])]}]}.

%% Many values of one kind, or of two.
selected(T, D, E) ->
    {Type, Values} =
        pick([{int, [int(I) || I <- lists:seq(0, 9)]},
              {int, [int(I) || I <- [-3, 7, 1 bsl 20, 1 bsl 58, 1 bsl 62, 1 bsl 70, 5, 255]]},
              {atom, [atom(A) || A <- [a, b, c, ok, error, undefined, 'an atom', true, false]]},
              {any, [int(1), int(3), atom(a), atom(true), {nil, 1}, {float, 1, 1.5}, tuple([])]},
              {tuple, [tuple([var('_') || _ <- lists:seq(1, I)]) || I <- lists:seq(0, 6)]},
              {tuple, [tuple([atom(A), var('_')]) || A <- [a, b, c, d, e]]}]),
    {'case', 1, expr(Type, D, E),
     [rest([V], [expr(T, 1, E)]) || V <- Values] ++ [rest([var('_')], [expr(T, D - 1, E)]) || not chance(4)]}.

%% Funs of several clauses, of functions, by name, with more or fewer arguments than there are.
called(T, D, E) ->
    {A, B} = {new(), new()},
    {P, Env} = pattern(pick(types()), 2),
    Fun = {'fun', 1, {clauses, [clause([P, var(B)], guard(Env), [expr(T, D - 1, [{B, any} | Env] ++ E)]),
                                rest([var(A), var('_')], [expr(T, D - 1, [{A, any} | E])])]}},
    Args = fun(N) -> [expr(any, D - 1, E) || _ <- lists:seq(1, N)] end,
    case rand:uniform(5) of
        1 -> {call, 1, Fun, Args(2)};
        2 -> {call, 1, hidden(Fun), Args(pick([2, 2, 2, 2, 1]))};
        3 -> call(erlang, apply, [Fun, list(Args(2))]);
        4 -> {M, F, Types} = pick([{erlang, '+', [int, int]}, {lists, reverse, [list]}, {erlang, hd, [list]},
                                   {maps, get, [any, map]}, {erlang, element, [int, tuple]}, {no, such, [any]}]),
             Given = [expr(G, D - 1, E) || G <- Types],
             pick([call(erlang, apply, [hidden(atom(M)), atom(F), list(Given)]),
                   {call, 1, {remote, 1, hidden(atom(M)), hidden(atom(F))}, Given},
                   {call, 1, hidden({'fun', 1, {function, atom(M), atom(F), int(length(Given))}}), Given}]);
        5 -> {call, 1, hidden(expr(pick([atom, any]), 0, E)), Args(1)}
    end.

%% A fun that calls itself.
named(T, D, E) ->
    {F, N, A} = {new(), new(), new()},
    Env = [{A, any}, {N, int} | E],
    Fun = {named_fun, 1, F, [rest([int(0), var(A)], [expr(T, 1, Env -- [{N, int}])]),
                             clause([var(N), var(A)], [[op('<', var(N), int(9))]],
                                    [{call, 1, var(F), [op('-', var(N), int(1)), expr(any, 1, Env)]}])]},
    {call, 1, Fun, [int(pick([0, 1, 3, 10])), expr(any, D - 1, E)]}.

remembered(T, D, E) ->
    Key = fun() -> pick([atom(a), int(1), {string, 1, "k"}, expr(any, 0, E)]) end,
    Old = case chance(2) of true -> call(put, [Key(), expr(any, D - 1, E)]); false -> call(erase, [Key()]) end,
    V = new(),
    {'block', 1, [{match, 1, var(V), Old}, tuple([var(V), call(get, [Key()]), expr(T, D - 1, [{V, any} | E])])]}.

%% Two values at once, of which parts may have to be the same, and a name for the whole.
both(T, D, E) ->
    {P, Env} = pattern(pick(types()), 2),
    {V, W} = {new(), new()},
    {'case', 1, tuple([expr(any, D - 1, E), expr(any, D - 1, E)]),
     [rest([tuple([var(V), var(V)])], [expr(T, D - 1, [{V, any} | E])]),
      clause([{match, 1, var(W), tuple([P, var('_')])}], guard(Env), [expr(T, D - 1, [{W, tuple} | Env] ++ E)]),
      rest([tuple([var('_'), pick([P || Env =:= []] ++ [int(1), atom(a)])])], [expr(T, D - 1, E)])
      | [rest([var('_')], [expr(T, D - 1, E)]) || not chance(4)]]}.

%% Functions of libraries: of what type they are, and what of.
library(Type, D, E) ->
    Good = [Row || {T, _, _, _} = Row <- libraries() ++ newer(), T =:= Type],
    case Good of
        [] -> expr(Type, D, E);
        _ -> {_, M, F, Types} = pick(Good),
             call(M, F, [argument(A, D, E) || A <- Types])
    end.

libraries() ->
    [{int, erlang, integer_to_binary, [int]}, {int, erlang, list_to_integer, [digits]},
     {int, erlang, binary_to_integer, [number_text]}, {int, erlang, ceil, [float]}, {int, erlang, floor, [float]},
     {int, erlang, iolist_size, [iolist]}, {int, lists, sum, [ints]}, {int, lists, max, [ints]},
     {int, binary, at, [bin, small]}, {int, binary, decode_unsigned, [bin]}, {int, erlang, crc32, [iolist]},
     {int, erlang, adler32, [iolist]}, {int, erlang, phash2, [any]}, {int, erlang, phash2, [any, int]},
     {int, string, length, [text]}, {int, lists, foldl, [adds, int, ints]},
     {float, math, sqrt, [float]}, {float, math, floor, [float]}, {float, math, pow, [small, small]},
     {float, erlang, list_to_float, [{'$', "1.5e3"}]}, {float, erlang, binary_to_float, [number_text]},
     {atom, erlang, binary_to_atom, [bin]}, {atom, erlang, list_to_existing_atom, [text]},
     {atom, lists, nth, [small, {'$', [a, b, c]}]}, {atom, maps, get, [atom, map, atom]},
     {bool, lists, keymember, [any, small, pairs]}, {bool, lists, all, [test, list]}, {bool, lists, any, [test, list]},
     {bool, erlang, is_function, [any, small]}, {bool, erlang, is_record, [tuple, atom, count]},
     {bool, lists, prefix, [list, list]}, {bool, erlang, is_map_key, [any, map]}, {bool, string, equal, [text, text]},
     {list, erlang, integer_to_list, [int, base]}, {list, erlang, atom_to_list, [atom]},
     {list, erlang, float_to_list, [float]}, {list, lists, seq, [count, count]}, {list, lists, sublist, [list, small]},
     {list, lists, nthtail, [small, list]}, {list, lists, zip, [list, list]}, {list, lists, append, [list, list]},
     {list, lists, flatten, [list]}, {list, lists, delete, [any, list]}, {list, lists, subtract, [list, list]},
     {list, lists, keysort, [small, pairs]}, {list, lists, keydelete, [any, small, pairs]},
     {list, lists, keystore, [any, small, pairs, tuple]}, {list, lists, map, [unary, list]},
     {list, lists, filter, [test, list]}, {list, lists, duplicate, [count, any]}, {list, lists, merge, [ints, ints]},
     {list, lists, partition, [test, list]}, {list, lists, ukeymerge, [small, pairs, pairs]},
     {list, lists, reverse, [list, any]}, {list, unicode, characters_to_list, [iolist]},
     {list, string, split, [text, text]},
     {list, string, tokens, [text, text]}, {list, binary, split, [bin, {'$', <<"b">>}]},
     {list, binary, matches, [bin, {'$', [<<"a">>, <<"bc">>]}]}, {list, erlang, binary_to_list, [bin, small, small]},
     {list, proplists, get_all_values, [atom, pairs]},
     {tuple, erlang, make_tuple, [count, any]}, {tuple, erlang, append_element, [tuple, any]},
     {tuple, erlang, delete_element, [small, tuple]}, {tuple, erlang, insert_element, [small, tuple, any]},
     {tuple, lists, keyfind, [any, small, pairs]}, {tuple, lists, splitwith, [test, list]},
     {tuple, lists, split, [small, list]}, {tuple, erlang, split_binary, [bin, small]},
     {tuple, binary, match, [bin, {'$', <<"c">>}]}, {tuple, lists, mapfoldl, [pairing, any, list]},
     {tuple, maps, take, [any, map]}, {tuple, maps, find, [any, map]}, {tuple, string, to_integer, [number_text]},
     {map, maps, map, [pairing, map]}, {map, maps, filter, [test2, map]}, {map, maps, with, [list, map]},
     {map, maps, without, [list, map]}, {map, maps, update, [any, any, map]}, {map, maps, from_keys, [list, any]},
     {map, maps, update_with, [atom, unary, any, map]}, {map, maps, intersect, [map, map]},
     {map, maps, from_list, [pairs]}, {map, maps, merge, [large, map]}, {map, maps, remove, [small, large]},
     {map, lists, foldl, [collects, map, list]},
     {bin, erlang, integer_to_binary, [int, base]}, {bin, erlang, atom_to_binary, [atom]},
     {bin, erlang, iolist_to_binary, [iolist]}, {bin, erlang, list_to_bitstring, [iolist]},
     {bin, binary, part, [bin, small, int]}, {bin, erlang, binary_part, [bin, small, small]},
     {bin, binary, copy, [bin, count]}, {bin, binary, replace, [bin, {'$', <<"b">>}, bin]},
     {bin, binary, encode_unsigned, [int]}, {bin, unicode, characters_to_binary, [iolist]},
     {bin, erlang, float_to_binary, [float]}, {bin, erlang, md5, [iolist]}, {bin, binary, list_to_bin, [ints]},
     {bin, string, uppercase, [bin]}].

%% Those that only later releases have: of them what the machine that makes the programs knows.
newer() ->
    case get(newer) of
        undefined ->
            Known = [Row || {_, M, F, Types} = Row <- since_26(), code:ensure_loaded(M) =:= {module, M},
                            erlang:function_exported(M, F, length(Types)) orelse erlang:is_builtin(M, F, length(Types))],
            put(newer, Known),
            Known;
        Known ->
            Known
    end.

%% The natives of erts_internal behind binary_to_integer and list_to_integer answer `big` on OTP where its
%% Erlang code goes on; kvik's convert everything.
since_26() ->
    [{bool, erlang, is_integer, [any, int, int]}, {bool, erlang, is_record, [any]}, {bool, records, is_exported, [any]},
     {atom, records, get_name, [any]}, {atom, records, get_module, [any]}, {list, records, get_field_names, [any]},
     {list, records, get, [any, atom]}, {list, records, get_definition, [atom, atom]},
     {list, records, create, [atom, atom, map, {'$', #{}}]}, {list, records, update, [any, any, any, map]},
     {int, erlang, binary_to_integer, [number_text, base]}, {int, erlang, list_to_integer, [digits, base]},
     {list, erts_internal, term_to_string, [pairs, {'$', undefined}]},
     {bin, erts_debug, unaligned_bitstring, [bin, small]},
     {float, math, tau, []}, {float, string, jaro_similarity, [text, text]},
     {list, lists, enumerate, [small, small, list]}, {list, lists, zip, [list, list, {'$', trim}]},
     {list, lists, zip, [list, list, {'$', {pad, {x, y}}}]}, {list, lists, zip3, [list, list, list, {'$', trim}]},
     {bin, binary, encode_hex, [bin, {'$', lowercase}]}, {bin, binary, join, [list, bin]},
     {bin, base64, encode, [iolist, {'$', #{padding => false}}]}, {bin, base64, decode, [bin, {'$', #{mode => urlsafe}}]},
     {list, json, encode, [any]}, {list, json, encode, [pairs]}, {map, json, decode, [bin]},
     {list, maps, to_list, [large]}, {map, maps, from_keys, [list, large]}, {list, ets, next_lookup, [atom, any]},
     {list, ets, lookup_element, [atom, any, small, any]}, {bool, ets, update_element, [atom, any, pairs, tuple]},
     {list, erlang, exit_signal, [any, atom, list]}, {bin, re, import, [any]}].

%% Arguments of libraries: types, and what only they want.
argument(small, _, E) -> pick([int(0), int(1), int(1), int(2), int(3), {op, 1, '-', int(1)}, expr(int, 0, E)]);
%% As many as there is memory for.
argument(count, _, E) -> pick([int(0), int(1), int(3), {op, 1, '-', int(1)}, op('band', expr(int, 0, E), int(15))]);
argument(base, _, _) -> int(pick([2, 8, 10, 16, 36, 1, 37]));
argument(digits, D, E) -> pick([call(integer_to_list, [expr(int, D, E)]), {string, 1, pick(["", "-", "+7", "1 "])}]);
argument(number_text, D, E) ->
    pick([call(integer_to_binary, [expr(int, D, E)]), call(float_to_binary, [expr(float, D, E)]),
          {bin, 1, [{bin_element, 1, {string, 1, pick(["", "-", "+7", "1.0e2", "1e400"])}, default, default}]}]);
argument(text, D, E) -> pick([{string, 1, pick(["", "abc", "b", "k", [228, 8364]])}, expr(list, D, E)]);
argument(iolist, D, E) ->
    pick([expr(list, D, E), expr(bin, D, E), list([expr(bin, D, E), {string, 1, "x"}, expr(list, 0, E)]),
          {cons, 1, list([int(pick([0, 255, 256, 8364]))]), expr(bin, D, E)}]);
argument(ints, D, E) -> pick([list([expr(int, D, E) || _ <- many(1, 4)]), expr(list, D, E)]);
argument(pairs, D, E) ->
    pick([expr(list, D, E), list([tuple([expr(pick([any, atom, int]), D, E) || _ <- many(1, 3)]) || _ <- many(1, 4)])]);
%% Of more keys than are kept in order, or nearly so.
argument(large, D, E) ->
    V = new(),
    Pair = tuple([var(V), expr(any, 1, [{V, int}])]),
    Keys = call(lists, seq, [int(1), int(pick([3, 32, 33, 60]))]),
    Map = call(maps, from_list, [{lc, 1, Pair, [{generate, 1, var(V), Keys}]}]),
    pick([Map, {map, 1, Map, [{map_field_assoc, 1, int(pick([7, 99])), expr(any, D, E)}]}]);
argument({'$', Value}, _, _) -> erl_parse:abstract(Value, 1);
argument(adds, D, E) -> function([int, int], int, D, E);
argument(unary, D, E) -> function([any], any, D, E);
argument(test, D, E) -> function([any], bool, D, E);
argument(test2, D, E) -> function([any, any], bool, D, E);
argument(pairing, D, E) ->
    {A, B} = {new(), new()},
    Pair = tuple([expr(any, min(D, 1), [{A, any}, {B, any} | E]), var(B)]),
    {'fun', 1, {clauses, [rest([var(A), var(B)], [Pair])]}};
argument(collects, D, E) -> function([any, map], map, D, E);
argument(Type, D, E) -> expr(Type, D, E).

function(Types, Result, D, E) ->
    Vars = [{new(), T} || T <- Types],
    Body = expr(Result, min(D, 1), Vars ++ E),
    {'fun', 1, {clauses, [rest([var(V) || {V, _} <- Vars], [Body])]}}.
