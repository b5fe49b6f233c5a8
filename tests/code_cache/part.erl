-module(?MODULE_NAME).
-export([all/0, exported/1, loaded/0]).
-on_load(loaded/0).

loaded() -> persistent_term:put(?MODULE, loaded).

exported(X) -> {?MODULE, X}.

all() ->
    Atoms = [list_to_atom(lists:concat(["atom_", N])) || N <- lists:seq(1, 40)],
    Map = keys(1, 2),
    [persistent_term:get(?MODULE),
     [select(A) || A <- Atoms ++ [other]],
     [few(A) || A <- [atom_3, atom_1, atom_2, x]],
     [pairs(A, B) || A <- [atom_40, atom_1, 3], B <- [atom_7, "text", 1.5]],
     Map, maps:get(atom_9, Map), Map#{atom_1 := 3}, [V || #{{key, atom_2} := V} <- [Map]],
     lists:map(fun(X) -> {X, Map} end, [a]), (fun ?MODULE:exported/1)(here), apply(?MODULE, id(exported), [there]),
     (id(?MODULE)):exported(by_name),
     [bits(B) || B <- [<<"string", 1:16, 7, 8:4, 3:4>>, <<"other">>, <<1, 2, 3>>]],
     <<"literal ", (id(<<"tail">>))/binary, 1:7, (id(5)):9/little, 2.5/float>>,
     catch id(atom_5) + 1, catch error({?MODULE, atom_6}), 123456789012345678901234567890,
     caught(fun() -> hd(id([])) end), caught(fun() -> few() end), big(id(1 bsl 70))].

id(X) -> X.

few() -> case id(none) of atom_1 -> 1 end.

big(1180591620717411303424) -> two_to_70;
big(_) -> other.

caught(F) -> try F() catch C:R:Trace -> {C, R, hd(Trace)} end.

few(atom_1) -> 1;
few(atom_2) -> 2;
few(atom_3) -> 3;
few(_) -> no.

pairs(atom_40, "text") -> [atom_40 | "text"];
pairs(X, Y) when X =:= atom_1; Y == 1.5 -> {X, Y, atom_13};
pairs(_, _) -> none.

keys(A, B) -> #{atom_9 => A, atom_1 => B, {key, atom_2} => [A | B], "text" => <<"bytes">>, 7 => atom_11}.

bits(<<"string", N:16, Rest/bitstring>>) -> {string, N, Rest};
bits(<<"other", _/bits>>) -> other;
bits(<<A, B:8/little-signed, C/utf8>>) -> {A, B, C}.

select(atom_24) -> {40, atom_34};
select(atom_7) -> {39, atom_27};
select(atom_31) -> {38, atom_20};
select(atom_14) -> {37, atom_13};
select(atom_38) -> {36, atom_6};
select(atom_21) -> {35, atom_40};
select(atom_4) -> {34, atom_33};
select(atom_28) -> {33, atom_26};
select(atom_11) -> {32, atom_19};
select(atom_35) -> {31, atom_12};
select(atom_18) -> {30, atom_5};
select(atom_1) -> {29, atom_39};
select(atom_25) -> {28, atom_32};
select(atom_8) -> {27, atom_25};
select(atom_32) -> {26, atom_18};
select(atom_15) -> {25, atom_11};
select(atom_39) -> {24, atom_4};
select(atom_22) -> {23, atom_38};
select(atom_5) -> {22, atom_31};
select(atom_29) -> {21, atom_24};
select(atom_12) -> {20, atom_17};
select(atom_36) -> {19, atom_10};
select(atom_19) -> {18, atom_3};
select(atom_2) -> {17, atom_37};
select(atom_26) -> {16, atom_30};
select(atom_9) -> {15, atom_23};
select(atom_33) -> {14, atom_16};
select(atom_16) -> {13, atom_9};
select(atom_40) -> {12, atom_2};
select(atom_23) -> {11, atom_36};
select(atom_6) -> {10, atom_29};
select(atom_30) -> {9, atom_22};
select(atom_13) -> {8, atom_15};
select(atom_37) -> {7, atom_8};
select(atom_20) -> {6, atom_1};
select(atom_3) -> {5, atom_35};
select(atom_27) -> {4, atom_28};
select(atom_10) -> {3, atom_21};
select(atom_34) -> {2, atom_14};
select(atom_17) -> {1, atom_7};
select(_) -> none.
