%% since 29
%% Native records: making, updating, matching, guards, errors with their stacks, records of another
%% module in several versions, collections in between.
-module(since29_native_records).
-export([main/0]).

-record #a{x = 1, y = [two], z}.
-record #b{x = none, q = 3.5}.
-record #order{zzzz = 0, true = 1, aaaa = 2, wwww = {3}}.
-record #empty{}.
-record #need{given, also, has = default}.
-export_record([shown, need]).
-record #shown{x = 1, deep = [{a, #{k => <<"v">>}}]}.
-record #big{f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7, f8 = 8, f9 = 9, f10, f11, f12,
             f13, f14, f15, f16, f17, f18, f19, f20, f21, f22, f23, f24, f25, f26, f27, f28, f29,
             f30, f31, f32, f33, f34, f35, f36, f37, f38, f39, f40, f41, f42, f43, f44, f45, f46,
             f47, f48, f49, f50, f51, f52, f53, f54, f55, f56, f57, f58, f59, f60, f61, f62, f63,
             f64, f65, f66, f67 = [], f68 = last}.

main() ->
    making(),
    reading(),
    guards(),
    errors(),
    others(),
    bifs(),
    collections().

making() ->
    t:p([#a{z = t:id(1)}, #a{x = 2, y = t:id(b), z = c}, #empty{}, #order{}, #shown{}]),
    R = t:id(#a{z = 0}),
    t:p([R#a{x = 5}, R#a{y = R}, R#a{z = [R], x = R, y = {R}}, R#_{z = any}, R]),
    t:p(#need{given = t:id(1), also = 2}),
    t:p([chain(t:id(#order{}), N) || N <- lists:seq(1, 4)]).

chain(R, 1) -> R#order{zzzz = a};
chain(R, 2) -> R#order{wwww = a, zzzz = b};
chain(R, 3) -> (R#order{true = a})#order{aaaa = b};
chain(R, 4) -> R#order{wwww = R#order.zzzz, zzzz = R#order.wwww, true = R#order.aaaa}.

reading() ->
    All = [#a{z = t:id(9)}, #b{}, #order{}, #empty{}, #shown{}, {a, 1, 2}, #{}, [], 1],
    [t:p(R, [t:c(fun() -> x(R) end), t:c(fun() -> any_x(R) end), shape(R), swap(R), t:c(fun() -> own(R) end)])
     || R <- All],
    ok.

x(R) -> {R#a.x, R#a.z}.
any_x(R) -> R#_.x.
own(R) -> R#since29_native_records:shown.x.

shape(#a{x = X, y = Y, z = Z}) -> {a, X, Y, Z};
shape(#b{q = Q}) -> {b, Q};
shape(#order{aaaa = A, zzzz = Z, wwww = {W}}) -> {order, A, Z, W};
shape(#empty{}) -> empty;
shape(#_{x = X}) -> {any, X};
shape(_) -> none.

%% Registers of the record are overwritten by its fields.
swap(#a{x = A, z = B}) -> swapped(B, A);
swap(#_{x = A}) -> swapped(A, A);
swap(Other) -> swapped(Other, none).

swapped(A, B) -> {A, B}.

guards() ->
    All = [#a{z = t:id(9)}, #shown{}, {a}, {a, 1}, a, #{}],
    t:p([[is_record(R), is_record(R, a), g1(R), g2(R), g3(R), g4(R)] || R <- All]),
    t:p([[t:c(fun() -> erlang:is_record(R, N) end), t:c(fun() -> erlang:is_record(R, M, N) end)]
         || R <- All, M <- [?MODULE, a, 1], N <- [a, shown, 2, "a"]]).

g1(R) when is_record(R, a) -> yes;
g1(_) -> no.
g2(R) when is_record(R, ?MODULE, shown) -> yes;
g2(_) -> no.
g3(R) when is_record(R), R#_.x =:= 1 -> yes;
g3(_) -> no.
g4(R) when R#a.x < 5; R#shown.x =:= 1 -> yes;
g4(_) -> no.

errors() ->
    Bad = [t:id(1), t:id({a, 1, 2, 3}), t:id(#b{}), t:id(#{x => 1})],
    [t:p([t:st(fun() -> R#a{x = 1} end), t:st(fun() -> R#a.x end), t:st(fun() -> R#_.nofield end),
          t:st(fun() -> R#_{nofield = 1} end)]) || R <- Bad],
    R = t:id(#a{z = 1}),
    t:p(t:st(fun() -> R#?MODULE:a{x = 1} end)),
    t:p(t:st(fun() -> R#?MODULE:a.x end)),
    t:p(t:st(fun() -> #?MODULE:a{x = 1} end)),
    t:p(t:st(fun() -> #?MODULE:need{given = t:id(1)} end)),
    t:p(t:st(fun() -> #?MODULE:need{} end)),
    t:p(t:st(fun() -> #?MODULE:need{nofield = 1} end)),
    t:p(t:st(fun() -> #nosuchmodule:a{x = t:id(1)} end)),
    t:p(t:st(fun() -> #?MODULE:shown{nofield = 1, x = 1} end)),
    t:p(t:st(fun() -> #?MODULE:shown{deep = t:id(1)} end)).

%% Definitions of another module change under records that exist.
others() ->
    load("-record #r{a = 1, b = [b]}. -export_record([r]). -record #s{a}. s() -> #s{a = 1}."),
    Old = #other_records:r{b = t:id(2)},
    S = other_records:s(),
    t:p([Old, S, Old#other_records:r{a = 3}, Old#other_records:r.b, t:c(fun() -> S#_.nofield end)]),
    load("-record #r{b = 1, c = 2, a = 0}. -export_record([r]). s() -> none."),
    New = #other_records:r{c = t:id(3)},
    t:p([New, Old, New > Old, New =:= Old, Old#other_records:r{a = 7}]),
    t:pc(fun() -> Old#other_records:r{c = 7} end),
    t:p([binary_to_term(term_to_binary(R)) =:= R || R <- [Old, New, S]]),
    t:p([records:get_definition(other_records, r), t:c(fun() -> records:get_definition(other_records, s) end)]),
    code:purge(other_records),
    t:p(code:delete(other_records)),
    code:purge(other_records),
    t:pc(fun() -> #other_records:r{c = 1} end),
    t:p([Old, New, S]),
    erlang:garbage_collect(),
    t:p([records:get_field_names(R) || R <- [Old, New, S]]).

load(Text) ->
    Lines = ["-module(other_records). -export([s/0]). " ++ Text],
    {ok, Tokens, _} = erl_scan:string(lists:append(Lines)),
    {ok, other_records, Code} = compile:forms(forms(Tokens, []), []),
    code:purge(other_records),
    {module, _} = code:load_binary(other_records, "other_records.erl", Code).

forms([], []) -> [];
forms([{dot, _} = D | Rest], Form) ->
    {ok, F} = erl_parse:parse_form(lists:reverse([D | Form])),
    [F | forms(Rest, [])];
forms([T | Rest], Form) -> forms(Rest, [T | Form]).

bifs() ->
    R = records:create(m, r, [{zz, 1}, {aa, 2}], #{is_exported => true}),
    t:p([R, records:get(zz, R), records:get_module(R), records:get_name(R), records:get_field_names(R),
         records:is_exported(R), records:update(R, m, r, #{aa => 3}), records:update(R, x, '_', #{}),
         records:update(R, x, '_', #{zz => R})]),
    T = [{m, r, [{a, 1}], #{}}, {m, r, [{a, 1}], #{is_exported => 1}}, {m, r, [{a, 1}], not_a_map},
         {m, r, [{a, 1}], #{is_exported => true, more => 1}}, {1, r, [], #{is_exported => true}},
         {m, 1, [], #{is_exported => true}}, {m, r, [{a, 1}, {a, 2}], #{is_exported => false}},
         {m, r, [{1, 1}], #{is_exported => false}}, {m, r, [a], #{is_exported => false}},
         {m, r, [{a, 1} | b], #{is_exported => false}}, {m, r, a, #{is_exported => false}}],
    [t:p(t:st(fun() -> records:create(M, N, F, O) end)) || {M, N, F, O} <- T],
    U = [{R, m, x, #{}}, {R, 1, r, #{}}, {R, m, r, a}, {R, m, r, #{b => 1}}, {R, m, r, #{1 => 2, zz => 3}},
         {a, m, r, #{}}, {R, m, r, maps:from_list([{list_to_atom("k" ++ integer_to_list(I)), I} || I <- lists:seq(1, 40)])}],
    [t:p(t:c(fun() -> records:update(A, B, C, D) end)) || {A, B, C, D} <- U, is_record(A)],
    [t:p(t:st(fun() -> records:F(1) end)) || F <- [get_module, get_name, get_field_names, is_exported]],
    t:p(t:st(fun() -> records:get(nokey, R) end)),
    t:p(t:st(fun() -> records:get(1, R) end)),
    t:p(t:st(fun() -> records:get(zz, {}) end)),
    t:p([records:get_definition(?MODULE, N) || N <- [a, b, order, empty, need, shown]]),
    t:p(t:st(fun() -> records:get_definition(?MODULE, nosuch) end)).

%% Records and what they hold survive collections, as do those made when the heap is full.
collections() ->
    t:p(grow(20000, t:id(#a{x = [], y = #{}, z = 0}))),
    t:p(large(300, t:id(big()), [])),
    Keep = [#a{x = I, y = integer_to_list(I), z = #b{x = I}} || I <- lists:seq(1, 3000)],
    erlang:garbage_collect(),
    t:p(lists:sum([X || #a{x = X, z = #b{x = X}} <- Keep])),
    {P, M} = spawn_monitor(fun() -> receive {From, R} -> From ! {self(), R#a{x = got}} end end),
    P ! {self(), hd(Keep)},
    receive {P, R} -> t:p(R) end,
    receive {'DOWN', M, _, _, Reason} -> t:p(Reason) end,
    t:p(erlang:phash2([Y || #a{y = Y} <- Keep])).

grow(0, R) -> {length(R#a.x), map_size(R#a.y), R#a.z};
grow(N, #a{x = L, y = M, z = Z} = R) ->
    grow(N - 1, R#a{x = [{N} | lists:sublist(L, 10)], y = M#{N rem 50 => <<N:64>>}, z = Z + 1}).

big() -> records:create(?MODULE, big, [{list_to_atom([$f | integer_to_list(I)]), I} || I <- lists:seq(1, 68)],
                        #{is_exported => false}).

large(0, R, Acc) -> {R#big.f68, R#big.f1, erlang:phash2(Acc)};
large(N, R, Acc) -> large(N - 1, R#big{f68 = N, f1 = [R#big.f68]}, [R#big.f1 | Acc]).
