%% Times in units of which a second has more than 2^59 parts, and units that are none.
-module(time_units_big).
-export([main/0]).
main() ->
    Units = [1 bsl 59, 1 bsl 62, 1 bsl 63, 1 bsl 64, 1 bsl 70, 1 bsl 200, -(1 bsl 70), -1, 0, 1.0, foo, "a", [], <<>>],
    Clocks = [{monotonic_time, fun erlang:monotonic_time/1}, {system_time, fun erlang:system_time/1}, {time_offset, fun erlang:time_offset/1}, {os_system_time, fun os:system_time/1}],
    [t:pc(fun() -> {Name, U, in_place(F, U)} end) || {Name, F} <- Clocks, U <- Units],
    [t:pc(fun() -> {U, is_integer(os:perf_counter(U))} end) || U <- Units],
    [t:pc(fun() -> erlang:convert_time_unit(T, U, V) end) || T <- [17, -17, 1 bsl 80, x], U <- [1 bsl 70, native, second, 0, -(1 bsl 70)], V <- Units].
%% Whether a time lies between two that are read around it in nanoseconds.
in_place(F, Unit) ->
    Before = F(nanosecond), Time = F(Unit), After = F(nanosecond),
    Time >= floor_div(Before * Unit, 1000000000) andalso Time =< floor_div((After + 1) * Unit, 1000000000).
floor_div(A, B) when A < 0 -> (A - (B - 1)) div B;
floor_div(A, B) -> A div B.
