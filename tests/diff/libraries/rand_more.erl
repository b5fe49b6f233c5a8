%% rand: every algorithm from a fixed seed, jumps, floats, normal deviates, bytes;
%% the old random module.
-module(rand_more).
-export([main/0]).
main() ->
    [begin S0 = rand:seed_s(A, {1, 2, 3}), {L, S1} = draw(S0, 20), t:p(A, L), {F, S2} = rand:uniform_s(S1), {R, S3} = rand:uniform_real_s(S2), {N, S4} = rand:normal_s(S3), {N2, S5} = rand:normal_s(10, 4, S4), t:p(A, {F, R, N, N2}), t:p(A, t:c(fun() -> {J, _} = rand:uniform_s(1000, rand:jump(S5)), J end)), {_, E} = rand:export_seed_s(S5), t:p(A, E =/= x), t:p(A, element(1, rand:uniform_s(1 bsl 70, rand:seed_s(rand:export_seed_s(S5))))) end
     || A <- [exsss, exro928ss, exrop, exs1024s, exsp, exs64, exsplus, exs1024]],
    t:p(rand:seed(exsss, 42) =/= x), t:p([rand:uniform(100) || _ <- lists:seq(1, 10)]), t:p(rand:bytes(10)), t:p(element(1, rand:bytes_s(5, rand:seed_s(exrop, 7)))), t:p(rand:seed(default) =/= x), rand:seed(exsss, {9, 9, 9}), t:p([rand:uniform() || _ <- [1, 2, 3]]), t:p(rand:export_seed()), t:p([t:c(F) || F <- [fun() -> rand:uniform(0) end, fun() -> rand:uniform(a) end, fun() -> rand:seed(bogus) end, fun() -> rand:seed_s(exsss, x) end]]),
    t:p(lists:foldl(fun(_, {X, A}) -> Y = rand:mwc59(X), {Y, [rand:mwc59_value32(Y) | A]} end, {rand:mwc59_seed(5), []}, [1, 2, 3])), t:p(rand:splitmix64_next(12345)), t:p(rand:exsp_next(rand:exsp_jump([1 | 2]))), random:seed(1, 2, 3), t:p([random:uniform(1000) || _ <- lists:seq(1, 5)]), t:p([round(random:uniform() * 1.0e9) || _ <- [1, 2]]), rand:seed(exsss, 1), t:p(lists:sort([{rand:uniform(1000), X} || X <- lists:seq(1, 10)])), t:p(erlang:phash2([rand:uniform(N) || N <- lists:seq(1, 5000)])), t:p(erlang:phash2([rand:normal() || _ <- lists:seq(1, 2000)])).
draw(S, N) -> lists:mapfoldl(fun(I, S0) -> rand:uniform_s(I * 1000, S0) end, S, lists:seq(1, N)).
