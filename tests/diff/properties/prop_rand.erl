%% Every generator of rand from seeds, jumps, ranges, normal values, bytes, and crypto-less hashes.
-module(prop_rand).
-export([main/0]).
main() ->
    [begin S0 = rand:seed_s(A, {1, 2, 3}), {Us, S1} = lists:mapfoldl(fun(N, S) -> rand:uniform_s(N, S) end, S0, [1, 2, 3, 10, 1 bsl 40, 1 bsl 58, 1 bsl 64, 1 bsl 100]), {Fs, S2} = lists:mapfoldl(fun(_, S) -> rand:uniform_s(S) end, S1, lists:seq(1, 50)), {Rs, S3} = lists:mapfoldl(fun(_, S) -> rand:uniform_real_s(S) end, S2, lists:seq(1, 20)), {Ns, S4} = lists:mapfoldl(fun(_, S) -> rand:normal_s(S) end, S3, lists:seq(1, 50)), {By, S5} = rand:bytes_s(37, S4),
    t:p(A, {Us, erlang:phash2({Fs, Rs}), erlang:phash2(Ns), By, rand:export_seed_s(S5)}),
    t:p(t:c(fun() -> element(1, rand:uniform_s(1 bsl 70, rand:jump(S5))) end)) end || A <- [exsss, exro928ss, exrop, exs1024s, exsp, exs64, exsplus, exs1024, dummy]],
    t:p([t:c(fun() -> rand:seed_s(X) end) || X <- [bad, {bad, 1}, 5]] =/= x), [t:pc(X, fun() -> rand:uniform(X) end) || X <- [0, -1, a, 1.5]],
    t:p([rand:seed_s(exsss, X) =:= rand:seed_s(exsss, X) || X <- [5, {1, 2, 3}, [1, 2]]]),
    t:pc(fun() -> element(1, rand:uniform_s(10, rand:seed_s(exsss, [1, 2]))) end),
    t:p(rand:mwc59(123456)),
    t:p([rand:mwc59_value32(5), rand:mwc59_value(5), rand:mwc59_float(5)]),
    t:p(rand:mwc59_seed(77)),
    t:p(rand:splitmix64_next(99)),
    t:p(rand:exsp_next([1 | 2])),
    t:p(rand:exsp_jump([1 | 2])),
    t:pc(fun() -> {X, _} = random:uniform_s(1000, random:seed0()), X end).
