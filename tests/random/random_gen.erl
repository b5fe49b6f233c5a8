%% Makes modules of random functions: of arithmetic, lists, tuples, maps, binaries, floats,
%% comparisons, guards, exceptions, funs, receive and (random_more.erl) loops, libraries and what else
%% there is, most of them well-typed, some not. The same seed gives the same module.
%%
%%   random_gen:write(Dir, Seed, Functions)
%%   random_gen:write_plain(Dir, Seed, Functions)
-module(random_gen).
-export([write/3, write_plain/3, forms/3]).
%% What random_more.erl makes its functions of.
-export([expr/3, pattern/2, guard/1, clauses/3, segment/2, types/0, literal/1, hidden/1, new/0, pick/1,
         chance/1, int/1, list/1, call/2, call/3, op/3]).

%% One expression in so many has another type than what it is used for.
-define(ILL_TYPED, 25).
%% How deep they go: many shallow ones meet more than few deep ones.
-define(DEPTHS, [1, 2, 2, 3]).

write(Dir, Seed, Functions) ->
    Name = list_to_atom("r" ++ integer_to_list(Seed)),
    {Forms, Code} = compiled(Name, Seed, Functions),
    File = filename:join(Dir, atom_to_list(Name)),
    ok = file:write_file(File ++ ".beam", Code),
    ok = file:write_file(File ++ ".erl", [erl_pp:form(F) || F <- Forms]).

%% The same functions compiled without types, where OTP's compiler can.
write_plain(Dir, Seed, Functions) ->
    Name = list_to_atom("r" ++ integer_to_list(Seed)),
    {Forms, Typed} = compiled(Name, Seed, Functions),
    Code = case first_good(Name, Forms, [[no_type_opt], [no_type_opt, no_copt], [no_ssa_opt]]) of
               {ok, Plain} -> Plain;
               none -> Typed
           end,
    ok = file:write_file(filename:join(Dir, atom_to_list(Name)) ++ ".beam", Code).

%% OTP's compiler fails at some of these programs, with some of its passes, and of some it makes files
%% that OTP does not load. Where nothing helps it is another program.
compiled(Name, Seed, Functions) ->
    Forms = forms(Name, Seed, Functions),
    case first_good(Name, Forms, [options(Seed), [no_type_opt], [no_ssa_opt]]) of
        {ok, Code} -> {Forms, Code};
        none -> compiled(Name, Seed + (1 bsl 32), Functions)
    end.

first_good(_, _, []) -> none;
first_good(Name, Forms, [Options | More]) ->
    case compile:forms(Forms, [binary, return_errors | Options]) of
        {ok, Name, Code} ->
            case code:load_binary(Name, "random", Code) of
                {module, Name} -> {ok, Code};
                {error, _} -> first_good(Name, Forms, More)
            end;
        {error, [], _} -> first_good(Name, Forms, More);
        {error, [{none, compile, _} | _], _} -> first_good(Name, Forms, More);
        {error, [{[], [{none, compile, _} | _]} | _], _} -> first_good(Name, Forms, More);
        {error, [{_, [{_, beam_validator, _} | _]} | _], _} -> first_good(Name, Forms, More);
        {error, Errors, _} ->
            io:format("~p: ~p~n", [Name, Errors]),
            halt(2)
    end.

%% What the compiler knows of types makes other instructions.
options(Seed) ->
    case Seed rem 4 of
        0 -> [no_type_opt];
        1 -> [no_ssa_opt];
        2 -> [no_copt];
        3 -> []
    end.

forms(Name, Seed, Functions) ->
    rand:seed(exsss, Seed),
    put(next, 0),
    Helpers = random_more:helpers(),
    {Rows, Forms} = lists:unzip([function(N) || N <- lists:seq(1, Functions)]),
    [{attribute, 1, module, Name}, {attribute, 1, export, [{main, 0}, {id, 1}]},
     {function, 1, id, 1, [{clause, 1, [{var, 1, 'X'}], [], [{var, 1, 'X'}]}]},
     {function, 1, main, 0, [{clause, 1, [], [], [list(steady(Rows))]}]}
     | steady(Helpers ++ Forms)].

%% Maps order atoms by their numbers. Modules of OTP that are loaded side by side at the start name those of
%% one letter, now this one first and now that. So they are atoms of the emulator's own, the same in each
%% start.
steady({atom, Line, Name} = Atom) ->
    case atom_to_list(Name) of
        [Letter] when Letter >= $a, Letter =< $z -> {atom, Line, steady_name(Name)};
        _ -> Atom
    end;
steady(T) when is_tuple(T) -> list_to_tuple(steady(tuple_to_list(T)));
steady([H | T]) -> [steady(H) | steady(T)];
steady(Other) -> Other.

steady_name(a) -> alias;
steady_name(b) -> big;
steady_name(c) -> copy;
steady_name(d) -> data;
steady_name(e) -> extra;
steady_name(k) -> known;
steady_name(m) -> major;
steady_name(x) -> 'xor';
steady_name(y) -> yield.

%% {Number, Function, Triples}: arguments of the types that it hopes for.
row(N, Types) ->
    Triples = [list([expr(T, 0, []) || T <- Types]) || _ <- [1, 2, 3]],
    {tuple, 1, [{integer, 1, N}, {'fun', 1, {function, name(N), 3}}, list(Triples)]}.

name(N) -> list_to_atom("f" ++ integer_to_list(N)).

%% Three arguments, whose types the second clause only hopes for.
function(N) ->
    Types = [pick(types()) || _ <- [1, 2, 3]],
    Vars = [new() || _ <- Types],
    Env = lists:zip(Vars, Types),
    Args = [{var, 1, V} || V <- Vars],
    Depth = pick(?DEPTHS),
    Body = [expr(any, Depth, Env)],
    Clauses = case chance(2) of
                  true ->
                      {Patterns, Env1} = patterns(Types),
                      [{clause, 1, Patterns, guard(Env1), [expr(any, Depth - 1, Env1)]}];
                  false -> []
              end,
    {row(N, Types), {function, 1, name(N), 3, Clauses ++ [{clause, 1, Args, [], Body}]}}.

types() -> [int, int, float, atom, bool, list, tuple, map, bin, any].

new() ->
    N = get(next) + 1,
    put(next, N),
    list_to_atom("V" ++ integer_to_list(N)).

pick(List) -> lists:nth(rand:uniform(length(List)), List).
chance(N) -> rand:uniform(N) =:= 1.

%% An expression of that type, or, rarely, of another.
expr(Type, Depth, Env) ->
    case chance(?ILL_TYPED) of
        true -> typed(pick(types()), Depth, Env);
        false -> typed(Type, Depth, Env)
    end.

typed(any, Depth, Env) -> typed(pick(types() -- [any]), Depth, Env);
typed(Type, Depth, Env) ->
    Vars = [V || {V, T} <- Env, T =:= Type orelse T =:= any],
    case {Depth =< 0, Vars} of
        {_, [_ | _]} when Depth =< 0 -> {var, 1, pick(Vars)};
        {true, []} -> literal(Type);
        _ ->
            case rand:uniform(12) of
                1 when Vars =/= [] -> {var, 1, pick(Vars)};
                2 when Vars =/= [] -> {var, 1, pick(Vars)};
                3 -> hidden(literal(Type));
                4 -> control(Type, Depth - 1, Env);
                5 -> control(Type, Depth - 1, Env);
                6 -> random_more:control(Type, Depth - 1, Env);
                7 -> random_more:library(Type, Depth - 1, Env);
                _ -> build(Type, Depth - 1, Env)
            end
    end.

%% The compiler cannot see what comes out of it.
hidden(E) -> {call, 1, {atom, 1, id}, [E]}.

literal(int) -> int(pick([0, 1, -1, 2, 3, 5, 7, 8, 16, 31, 32, 255, 256, -256, 65535, 1 bsl 27, 1 bsl 32,
                          (1 bsl 59) - 1, 1 bsl 59, -(1 bsl 59), (1 bsl 63) - 1, 1 bsl 64, -(1 bsl 70)]));
literal(float) -> hidden({float, 1, pick([0.0, 1.0, -1.5, 2.0, 3.25, 1.0e10, 1.0e300, 4.0e-300, 100.0])});
literal(atom) -> {atom, 1, pick([a, b, c, ok, error, undefined, 'an atom'])};
literal(bool) -> {atom, 1, pick([true, false])};
literal(list) -> pick([{nil, 1}, {string, 1, "abc"}, list([int(1), int(2), int(3)]),
                       {cons, 1, {atom, 1, a}, {atom, 1, b}}, list([{tuple, 1, [{atom, 1, a}, int(1)]}])]);
literal(tuple) -> {tuple, 1, pick([[], [{atom, 1, a}], [int(1), {atom, 1, b}], [int(1), int(2), int(3)]])};
literal(map) -> {map, 1, [{map_field_assoc, 1, K, int(N)}
                          || {K, N} <- pick([[], [{{atom, 1, a}, 1}],
                                             [{{atom, 1, a}, 1}, {{atom, 1, b}, 2}, {int(1), 3}],
                                             [{{string, 1, "k"}, 1}, {{float, 1, 1.0}, 2}]])]};
literal(bin) -> {bin, 1, [{bin_element, 1, E, S, T}
                          || {E, S, T} <- pick([[], [{{string, 1, "abc"}, default, default}],
                                                [{int(5), int(3), default}],
                                                [{int(1), int(16), default}, {int(200), int(8), default}]])]}.

int(N) when N < 0 -> {op, 1, '-', {integer, 1, -N}};
int(N) -> {integer, 1, N}.
list(Es) -> lists:foldr(fun(E, T) -> {cons, 1, E, T} end, {nil, 1}, Es).
call(F, Args) -> {call, 1, {atom, 1, F}, Args}.
call(M, F, Args) -> {call, 1, {remote, 1, {atom, 1, M}, {atom, 1, F}}, Args}.
op(O, A, B) -> {op, 1, O, A, B}.

%% What makes a value of the type.
build(int, D, E) ->
    I = fun() -> expr(int, D, E) end,
    case rand:uniform(16) of
        N when N =< 5 -> op(pick(['+', '-', '*', 'div', 'rem']), I(), I());
        6 -> op(pick(['band', 'bor', 'bxor']), I(), I());
        7 -> op(pick(['bsl', 'bsr']), I(), op('band', I(), int(pick([7, 63]))));
        8 -> {op, 1, pick(['-', 'bnot', '+']), I()};
        9 -> op(pick(['div', 'rem', 'bsr', 'bsl', '+', '-', 'band']), I(), int(pick([1, 2, 3, 4, 8, 16, 59])));
        10 -> call(length, [expr(list, D, E)]);
        11 -> call(pick([tuple_size, size]), [expr(tuple, D, E)]);
        12 -> call(map_size, [expr(map, D, E)]);
        13 -> call(pick([byte_size, bit_size, size]), [expr(bin, D, E)]);
        14 -> call(pick([abs, round, trunc]), [expr(pick([int, float]), D, E)]);
        15 -> call(hd, [list([I(), I()])]);
        16 -> call(pick([min, max]), [I(), I()])
    end;
build(float, D, E) ->
    F = fun() -> expr(pick([float, float, int]), D, E) end,
    case rand:uniform(6) of
        1 -> call(float, [expr(int, D, E)]);
        2 -> op('/', F(), F());
        3 -> {op, 1, '-', F()};
        _ -> op(pick(['+', '-', '*']), expr(float, D, E), F())
    end;
build(atom, D, E) ->
    case rand:uniform(3) of
        1 -> call(element, [int(pick([1, 2])), {tuple, 1, [expr(atom, D, E), expr(atom, D, E)]}]);
        2 -> call(map_get, [{atom, 1, a}, {map, 1, [{map_field_assoc, 1, {atom, 1, a}, expr(atom, D, E)}]}]);
        3 -> typed(bool, D, E)
    end;
build(bool, D, E) ->
    case rand:uniform(8) of
        N when N =< 3 ->
            T = pick(types()),
            op(pick(['=:=', '=/=', '==', '/=', '<', '>', '=<', '>=']), expr(T, D, E), expr(pick([T, any]), D, E));
        4 -> call(pick([is_integer, is_float, is_number, is_atom, is_boolean, is_list, is_tuple, is_map,
                        is_binary, is_bitstring, is_function, is_pid, is_reference]), [expr(any, D, E)]);
        5 -> op(pick(['and', 'or', 'xor', 'andalso', 'orelse']), expr(bool, D, E), expr(bool, D, E));
        6 -> {op, 1, 'not', expr(bool, D, E)};
        7 -> call(is_map_key, [key(D, E), expr(map, D, E)]);
        8 -> call(lists, member, [expr(any, D, E), expr(list, D, E)])
    end;
build(list, D, E) ->
    L = fun() -> expr(list, D, E) end,
    case rand:uniform(9) of
        1 -> op(pick(['++', '--']), L(), L());
        2 -> {cons, 1, expr(any, D, E), L()};
        3 -> call(tl, [{cons, 1, expr(any, D, E), L()}]);
        4 -> call(lists, pick([reverse, sort, usort]), [L()]);
        5 -> V = new(),
             {lc, 1, expr(any, D, [{V, any} | E]), [{generate, 1, {var, 1, V}, L()} | filters(D, [{V, any} | E])]};
        6 -> call(pick([tuple_to_list]), [expr(tuple, D, E)]);
        7 -> call(lists, sort, [call(maps, pick([to_list, keys, values]), [expr(map, D, E)])]);
        8 -> call(pick([binary_to_list, bitstring_to_list]), [expr(bin, D, E)]);
        9 -> list([expr(any, D, E) || _ <- lists:seq(1, rand:uniform(4))])
    end;
build(tuple, D, E) ->
    case rand:uniform(4) of
        1 -> call(setelement, [expr(int, 0, []), expr(tuple, D, E), expr(any, D, E)]);
        2 -> call(setelement, [int(pick([1, 2])), {tuple, 1, [expr(any, D, E), expr(any, D, E)]}, expr(any, D, E)]);
        3 -> call(list_to_tuple, [expr(list, D, E)]);
        4 -> {tuple, 1, [expr(any, D, E) || _ <- lists:seq(1, rand:uniform(5))]}
    end;
build(map, D, E) ->
    M = fun() -> expr(map, D, E) end,
    Fields = fun(Kinds) -> [{pick(Kinds), 1, key(D, E), expr(any, D, E)} || _ <- lists:seq(1, rand:uniform(3))] end,
    case rand:uniform(7) of
        1 -> {map, 1, M(), Fields([map_field_assoc])};
        2 -> {map, 1, M(), Fields([map_field_exact, map_field_assoc])};
        3 -> {map, 1, Fields([map_field_assoc])};
        4 -> call(maps, put, [key(D, E), expr(any, D, E), M()]);
        5 -> call(maps, remove, [key(D, E), M()]);
        6 -> call(maps, merge, [M(), M()]);
        7 -> call(maps, from_list, [list([{tuple, 1, [key(D, E), expr(any, D, E)]} || _ <- [1, 2]])])
    end;
build(bin, D, E) ->
    case rand:uniform(5) of
        1 -> {bin, 1, [{bin_element, 1, expr(bin, D, E), default, [pick([binary, bitstring])]},
                       {bin_element, 1, expr(bin, D, E), default, [bitstring]}]};
        2 -> call(list_to_binary, [list([op('band', expr(int, D, E), int(255)) || _ <- [1, 2]])]);
        3 -> V = new(),
             {bc, 1, {bin, 1, [{bin_element, 1, {var, 1, V}, int(pick([8, 5])), default}]},
              [{b_generate, 1, {bin, 1, [{bin_element, 1, {var, 1, V}, int(pick([8, 4])), default}]},
                expr(bin, D, E)}]};
        _ -> {bin, 1, [segment(D, E) || _ <- lists:seq(1, rand:uniform(3))]}
    end.

segment(D, E) ->
    case rand:uniform(6) of
        1 -> {bin_element, 1, expr(float, D, E), int(pick([32, 64])), [float, pick([big, little])]};
        2 -> {bin_element, 1, expr(int, D, E), default, [pick([utf8, utf16, utf32])]};
        3 -> {bin_element, 1, expr(int, D, E), op('band', expr(int, D, E), int(127)), [pick([big, little])]};
        _ -> {bin_element, 1, expr(int, D, E), int(pick([1, 3, 7, 8, 12, 16, 24, 32, 33, 64, 70])),
              [pick([big, little]), pick([signed, unsigned])]}
    end.

key(D, E) ->
    case rand:uniform(8) of
        1 -> expr(any, D, E);
        2 -> {string, 1, "k"};
        3 -> int(pick([1, 2]));
        4 -> {float, 1, 1.0};
        _ -> {atom, 1, pick([a, b, c, d])}
    end.

filters(D, Env) ->
    case chance(3) of
        true -> [filter(expr(bool, D - 1, Env))];
        false -> []
    end.

%% A filter that is a call of is_record/3 is a guard, which takes no other name or size than a literal.
filter({call, _, {remote, _, _, {atom, _, is_record}}, _} = Call) -> {block, 1, [Call]};
filter({call, _, {atom, _, is_record}, _} = Call) -> {block, 1, [Call]};
filter(E) -> E.

%% What takes apart, chooses, fails and catches.
control(T, D, E) ->
    case rand:uniform(9) of
        1 -> {'case', 1, expr(any, D, E), clauses(T, D, E)};
        2 -> {'case', 1, expr(pick([map, bin, tuple, list]), D, E), clauses(T, D, E)};
        3 -> {'if', 1, [{clause, 1, [], guard(E), [expr(T, D, E)]}
                        | [{clause, 1, [], [[{atom, 1, true}]], [expr(T, D, E)]} || not chance(5)]]};
        4 -> {'try', 1, [expr(T, D, E)], [], [catches(T, D, E)], []};
        5 -> call(element, [int(1), {tuple, 1, [{'catch', 1, expr(T, D, E)}]}]);
        6 -> V = new(),
             {'block', 1, [{match, 1, {var, 1, V}, expr(any, D, E)}, expr(T, D, [{V, any} | E])]};
        7 -> V = new(),
             {call, 1, {'fun', 1, {clauses, [{clause, 1, [{var, 1, V}], [], [expr(T, D, [{V, any} | E])]}]}},
              [expr(any, D, E) || _ <- lists:seq(1, case chance(20) of true -> 2; false -> 1 end)]};
        8 -> V = new(),
             {'block', 1, [{op, 1, '!', call(self, []), {tuple, 1, [{atom, 1, m}, expr(any, D, E)]}},
                           {'receive', 1, [{clause, 1, [{tuple, 1, [{atom, 1, m}, {var, 1, V}]}], [],
                                            [expr(T, D, [{V, any} | E])]}]}]};
        9 -> call(pick([error, throw, exit]), [expr(any, D - 1, E)])
    end.

clauses(T, D, E) ->
    Some = [begin
                {P, Env} = pattern(pick(types()), 2),
                {clause, 1, [P], guard(Env ++ E), [expr(T, D, Env ++ E)]}
            end || _ <- lists:seq(1, rand:uniform(3))],
    Some ++ [{clause, 1, [{var, 1, '_'}], [], [expr(T, D, E)]} || not chance(6)].

catches(T, D, E) ->
    {C, R} = {new(), new()},
    Known = {tuple, 1, [{var, 1, C}, {var, 1, R}, {var, 1, '_'}]},
    {clause, 1, [Known], [], [expr(T, D, [{C, atom}, {R, any} | E])]}.

patterns(Types) ->
    All = [pattern(T, 2) || T <- Types],
    {[P || {P, _} <- All], lists:append([Env || {_, Env} <- All])}.

%% A pattern and the variables in it.
pattern(_, 0) -> V = new(), {{var, 1, V}, [{V, any}]};
pattern(Type, D) ->
    case {chance(4), Type} of
        {true, _} -> V = new(), {{var, 1, V}, [{V, Type}]};
        {_, list} ->
            {[H, T], Env} = patterns_of([any, list], D - 1),
            pick([{{cons, 1, H, T}, Env}, {{cons, 1, H, T}, Env}, {{nil, 1}, []}]);
        {_, tuple} ->
            {Ps, Env} = patterns_of([any || _ <- lists:seq(1, rand:uniform(4))], D - 1),
            {{tuple, 1, Ps}, Env};
        {_, map} ->
            {Ps, Env} = patterns_of([any || _ <- lists:seq(1, rand:uniform(2))], D - 1),
            {{map, 1, [{map_field_exact, 1, pick([{atom, 1, a}, {atom, 1, b}, int(1), {string, 1, "k"}]), P}
                       || P <- Ps]}, Env};
        {_, bin} ->
            {A, B} = {new(), new()},
            Segment = pick([{bin_element, 1, {var, 1, A}, int(pick([1, 8, 12, 16, 32])), [pick([big, little])]},
                            {bin_element, 1, {var, 1, A}, default, [pick([utf8, utf16])]},
                            {bin_element, 1, {var, 1, A}, int(pick([32, 64])), [float]}]),
            {{bin, 1, [Segment, {bin_element, 1, {var, 1, B}, default, [pick([binary, bitstring])]}]},
             [{A, any}, {B, bin}]};
        {_, float} -> V = new(), {{var, 1, V}, [{V, float}]};
        {_, any} -> pattern(pick([list, tuple, map, bin, int, atom]), D);
        {_, _} -> {literal(Type), []}
    end.

patterns_of(Types, D) ->
    All = [pattern(pick([T, int, atom]), D) || T <- Types],
    {[P || {P, _} <- All], lists:append([Env || {_, Env} <- All])}.

%% Tests of variables, in which anything may fail.
guard([]) -> [];
guard(Env) ->
    case chance(2) of
        true -> [];
        false -> [[test(2, Env) || _ <- lists:seq(1, rand:uniform(2))] || _ <- lists:seq(1, rand:uniform(2))]
    end.

test(0, Env) -> {var, 1, element(1, pick(Env))};
test(D, Env) ->
    V = fun() -> {var, 1, element(1, pick(Env))} end,
    case rand:uniform(9) of
        1 -> call(pick([is_integer, is_float, is_number, is_atom, is_list, is_tuple, is_map, is_binary,
                        is_boolean, is_bitstring]), [V()]);
        2 -> op(pick(['<', '>', '=<', '>=', '=:=', '==', '/=', '=/=']), V(), pick([V(), int(5), {float, 1, 1.5}]));
        3 -> op(pick(['andalso', 'orelse', 'and', 'or']), test(D - 1, Env), test(D - 1, Env));
        4 -> {op, 1, 'not', test(D - 1, Env)};
        5 -> op('=:=', call(pick([length, tuple_size, map_size, byte_size, hd, tl, abs, size]), [V()]),
                pick([V(), int(1), int(3)]));
        6 -> op(pick(['=:=', '>']), op(pick(['+', '-', '*', 'div', 'rem', 'band']), V(), pick([V(), int(2)])),
                int(pick([0, 1, 10])));
        7 -> op('=:=', call(element, [int(pick([1, 2, 3])), V()]), pick([V(), {atom, 1, a}]));
        8 -> call(is_map_key, [{atom, 1, a}, V()]);
        9 -> op('=:=', call(map_get, [pick([{atom, 1, a}, V()]), V()]), pick([V(), int(1)]))
    end.
