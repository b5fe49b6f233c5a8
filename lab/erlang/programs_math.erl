%% Three programs that calculate with floats.
-module(programs_math).
-export([nbody/2, spectral_norm/2, mandelbrot/2]).

-define(DAYS, 365.24).
-define(SOLAR_MASS, (4 * math:pi() * math:pi())).

%% The sun and four planets, so many steps of a hundredth of a day: the energy
%% stays, but for what steps of that length make of it (1.3 parts in 10,000 after
%% 500,000).
nbody(Steps, _) ->
    Bodies = at_rest(bodies()),
    Before = energy(Bodies),
    After = energy(advance(Steps, 0.01, Bodies)),
    true = abs(After - Before) < 1.0e-3 * abs(Before),
    ok.

%% {X, Y, Z, Vx, Vy, Vz, Mass}
bodies() ->
    [{0.0, 0.0, 0.0, 0.0, 0.0, 0.0, ?SOLAR_MASS},
     planet({4.84143144246472090, -1.16032004402742839, -0.103622044471123109},
            {0.00166007664274403694, 0.00769901118419740425, -0.0000690460016972063023},
            0.000954791938424326609),
     planet({8.34336671824457987, 4.12479856412430479, -0.403523417114321381},
            {-0.00276742510726411040, 0.00499852801234917238, 0.0000230417297573763929},
            0.000285885980666130812),
     planet({12.8943695621391310, -15.1111514016986312, -0.223307578892655734},
            {0.00296460137564761618, 0.00237847173959480950, -0.0000296589568540237556},
            0.0000436624404335156298),
     planet({15.3796971148509165, -25.9193146099879641, 0.179258772950371181},
            {0.00268067772490389322, 0.00162824170038242295, -0.0000951592254519715870},
            0.0000515138902046611451)].

planet({X, Y, Z}, {Vx, Vy, Vz}, Mass) ->
    {X, Y, Z, Vx * ?DAYS, Vy * ?DAYS, Vz * ?DAYS, Mass * ?SOLAR_MASS}.

%% The whole does not move.
at_rest([{X, Y, Z, _, _, _, Mass} | Planets]) ->
    Sum = fun(At) -> lists:sum([element(At, P) * element(7, P) || P <- Planets]) end,
    [{X, Y, Z, -Sum(4) / Mass, -Sum(5) / Mass, -Sum(6) / Mass, Mass} | Planets].

advance(0, _, Bodies) -> Bodies;
advance(N, Dt, Bodies) ->
    advance(N - 1, Dt, [move(B, Dt) || B <- pulled(Bodies, Dt)]).

%% Each pair once: the first pulls at the rest, and the rest at it.
pulled([], _) -> [];
pulled([Body | Rest], Dt) ->
    {Pulled, Others} = pull(Body, Rest, Dt, []),
    [Pulled | pulled(Others, Dt)].

pull(Body, [], _, Others) -> {Body, lists:reverse(Others)};
pull({X, Y, Z, Vx, Vy, Vz, M}, [{X2, Y2, Z2, Vx2, Vy2, Vz2, M2} | Rest], Dt, Others) ->
    {Dx, Dy, Dz} = {X - X2, Y - Y2, Z - Z2},
    Square = Dx * Dx + Dy * Dy + Dz * Dz,
    Pull = Dt / (Square * math:sqrt(Square)),
    {P, P2} = {M2 * Pull, M * Pull},
    Other = {X2, Y2, Z2, Vx2 + Dx * P2, Vy2 + Dy * P2, Vz2 + Dz * P2, M2},
    pull({X, Y, Z, Vx - Dx * P, Vy - Dy * P, Vz - Dz * P, M}, Rest, Dt, [Other | Others]).

move({X, Y, Z, Vx, Vy, Vz, M}, Dt) ->
    {X + Dt * Vx, Y + Dt * Vy, Z + Dt * Vz, Vx, Vy, Vz, M}.

energy([]) -> 0.0;
energy([{X, Y, Z, Vx, Vy, Vz, M} | Rest]) ->
    Between = [M * M2 / math:sqrt((X - X2) * (X - X2) + (Y - Y2) * (Y - Y2) + (Z - Z2) * (Z - Z2))
               || {X2, Y2, Z2, _, _, _, M2} <- Rest],
    0.5 * M * (Vx * Vx + Vy * Vy + Vz * Vz) - lists:sum(Between) + energy(Rest).

%% The largest singular value of a matrix without end, of which so many rows
%% are taken.
spectral_norm(N, _) ->
    U = power(10, N, lists:duplicate(N, 1.0)),
    V = both(N, U),
    Norm = math:sqrt(dot(U, V, 0.0) / dot(U, U, 0.0)),
    true = abs(Norm - 1.2742) < 1.0e-3,
    ok.

power(0, _, U) -> U;
power(I, N, U) -> power(I - 1, N, both(N, U)).

both(N, U) ->
    Forward = [row(I, 0, U, 0.0) || I <- lists:seq(0, N - 1)],
    [column(I, 0, Forward, 0.0) || I <- lists:seq(0, N - 1)].

row(_, _, [], Sum) -> Sum;
row(I, J, [X | Xs], Sum) -> row(I, J + 1, Xs, Sum + X / entry(I, J)).

column(_, _, [], Sum) -> Sum;
column(I, J, [X | Xs], Sum) -> column(I, J + 1, Xs, Sum + X / entry(J, I)).

entry(I, J) -> (I + J) * (I + J + 1) div 2 + I + 1.

dot([], [], Sum) -> Sum;
dot([X | Xs], [Y | Ys], Sum) -> dot(Xs, Ys, Sum + X * Y).

%% A picture of so many points each way, a bit for each; its part of the set
%% is known.
mandelbrot(N, _) ->
    Rows = [line(0, N, 2.0 * Y / N - 1.0, <<>>) || Y <- lists:seq(0, N - 1)],
    Inside = lists:sum([set(Row, 0) || Row <- Rows]),
    %% The picture's area is 4, the set's 1.5066.
    true = abs(Inside / (N * N) * 4 - 1.5066) < 0.1,
    ok.

line(N, N, _, Bits) -> Bits;
line(X, N, Ci, Bits) ->
    Cr = 2.0 * X / N - 1.5,
    line(X + 1, N, Ci, <<Bits/bits, (escapes(50, Cr, Ci, Cr, Ci)):1>>).

escapes(0, _, _, _, _) -> 1;
escapes(N, R, I, Cr, Ci) ->
    R2 = R * R,
    I2 = I * I,
    case R2 + I2 > 4.0 of
        true -> 0;
        false -> escapes(N - 1, R2 - I2 + Cr, 2.0 * R * I + Ci, Cr, Ci)
    end.

set(<<1:1, Rest/bits>>, N) -> set(Rest, N + 1);
set(<<0:1, Rest/bits>>, N) -> set(Rest, N);
set(<<>>, N) -> N.
