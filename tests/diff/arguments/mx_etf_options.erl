%% term_to_binary with each option, binary_to_term of what is none.
%% until 29
%% OTP 29 overruns a buffer of its own for some of these and aborts.
-module(mx_etf_options).
-export([main/0]).
main() ->
    Ts = [a, 'é', '漢', 1, 1 bsl 70, 1.5, "ab", [a | b], {}, {x, <<1:3>>}, #{a => 1, b => 2}, fun lists:map/2],
    Os = [[], [compressed], [{compressed, 0}], [{compressed, 9}], [{compressed, 10}], [{minor_version, 0}], [{minor_version, 1}], [{minor_version, 2}], [{minor_version, 3}], [deterministic], [{minor_version, 1}, compressed], [bad], bad, [compressed | a], [local]],
    m:fs(erlang, [term_to_binary, external_size], [Ts, Os]), m:fs(erlang, [term_to_iovec], [Ts, [[], [deterministic], [bad], bad]]), m:fs(erlang, [external_size, term_to_iovec], [Ts]),
    Bs = [<<>>, <<131>>, <<131, 106>>, <<131, 106, 106>>, <<131, 97>>, <<130, 106>>, <<131, 100, 0, 3, "zzq">>, <<131, 119, 8, "unseen_z">>, <<131, 80, 0, 0, 0, 3, 1, 2, 3>>, term_to_binary({a, "b"}, [compressed]), <<131, 108, 0, 0, 0, 1, 97, 1>>, <<131, 109, 0, 0, 0, 9, 1>>, <<131, 110, 2, 0, 0, 1>>, <<131, 70, 127, 240, 0, 0, 0, 0, 0, 0>>, a, <<1:1>>, "x"],
    m:f(erlang, binary_to_term, [Bs, [[safe], [used], [safe, used], [], [bad], bad]]), m:f(erlang, binary_to_term, [Bs]).
