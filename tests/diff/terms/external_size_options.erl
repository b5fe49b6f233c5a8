%% erlang:external_size/2 with the options of term_to_binary/2, all of which it takes since 27; of
%% two versions the last one counts.
-module(external_size_options).
-export([main/0]).

main() ->
    Many = maps:from_list([{I, I} || I <- lists:seq(1, 100)]),
    Terms = [{string, {ok, lists:duplicate(50, $A)}}, {float, {ok, 1.5}}, {bits, <<1:3>>}, {latin1, 'é'},
             {utf8, '日'}, {long_atom, list_to_atom(lists:duplicate(200, $é))}, {small, [1, -1, 256, 1 bsl 40]},
             {big, [-(1 bsl 64), 1 bsl 3000]}, {improper, [a | b]}, {no_string, [1, 2 | c]},
             {binaries, [<<1:800>>, <<1:801>>]}, {map, #{a => #{b => c}}}, {large_map, Many},
             {large_maps, [Many, Many, Many]}, {external_fun, fun lists:seq/2}, {long_list, lists:seq(1, 300)},
             {no_longer_string, lists:duplicate(70000, 1)}, {large_tuple, list_to_tuple(lists:seq(1, 300))}],
    Options = [[], [compressed], [{compressed, 9}], [{compressed, 10}], [deterministic], [local],
               [deterministic, local], [{minor_version, 0}], [{minor_version, 1}], [{minor_version, 2}],
               [{minor_version, 3}], [{minor_version, 0}, {minor_version, 1}],
               [{minor_version, 1}, {minor_version, 0}], [{minor_version, 0}, {minor_version, 2}],
               [foo], foo, [compressed | foo], [iovec]],
    [t:pc({Name, O}, fun() -> erlang:external_size(T, O) end) || {Name, T} <- Terms, O <- Options],
    %% As long as what is written.
    F = fun() -> Many end,
    [t:p(byte_size(term_to_binary(T, O)) - erlang:external_size(T, O))
     || T <- [self(), make_ref(), alias(), hd(erlang:ports()), F, {self(), F}],
        O <- [[], [{minor_version, 0}], [{minor_version, 1}]]],
    [t:pc(O, fun() -> byte_size(term_to_binary(T, O)) - erlang:external_size(T, O) end)
     || T <- [self(), make_ref(), alias(), hd(erlang:ports()), Many], O <- [[local], [deterministic]]].
