%% since 27
-module(shared_sizes).
-export([main/0]).

%% Words of terms, each object counted once. The terms come from another process, so that none is a literal.
main() ->
    B = own(binary:copy(<<7>>, 4000)),
    <<S:1000/binary, _/binary>> = B,
    <<_:3, U:2000/bitstring, _/bitstring>> = B,
    L = [own(lists:seq(1, 5)) | own(lists:seq(1, 3))],
    Terms = [own({term, [<<"abc", 0:777/unit:8>>]}), own(<<0:64/unit:8>>), own(<<0:65/unit:8>>),
             own(<<1:3>>), own(#{a => 1}), own(1 bsl 100), own(2.5), B, S, U, {B, B}, {S, B, B}, {U, S},
             [B, S, U, B], {L, L}, {own({}), own("")}],
    [io:format("~p ~p~n", [erts_debug:size(T), erts_debug:size_shared(T)]) || T <- Terms].

own(T) ->
    Self = self(),
    spawn(fun() -> Self ! {t, binary_to_term(term_to_binary(T))} end),
    receive {t, New} -> New end.
