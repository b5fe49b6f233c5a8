%% Time units and conversions.
-module(mx_time).
-export([main/0]).
main() ->
    Us = [second, millisecond, microsecond, nanosecond, native, perf_counter, seconds, milli_seconds, 1, 1000, 7, 0, -1, a, 1.0],
    m:f(erlang, convert_time_unit, [[0, 1, -1, 999, 1000, 1001, -1500, 1 bsl 70, a], Us -- [native, perf_counter], Us -- [native, perf_counter]]),
    [t:p({F, U, case m:outcome(erlang, F, [U]) of V when is_integer(V) -> int; V -> V end}) || F <- [system_time, monotonic_time, time_offset], U <- Us], [t:p(case m:outcome(os, F, [U]) of V when is_integer(V) -> int; V -> V end) || F <- [system_time, perf_counter], U <- Us],
    m:f(erlang, unique_integer, [[[bad], bad, [positive | a], 1]]), m:f(calendar, system_time_to_rfc3339, [[0, 1, -1, 1700000000], [[{offset, "Z"}], [{offset, "+02:00"}], [{unit, millisecond}, {offset, "Z"}], [{unit, nanosecond}, {offset, 0}], [{time_designator, $\s}, {offset, "Z"}]]]),
    m:f(calendar, rfc3339_to_system_time, [["2020-02-30T00:00:00Z", "1970-01-01T00:00:00Z", "2000-01-01T01:02:03.456+01:00", "x", ""], [[], [{unit, millisecond}], [{unit, nanosecond}]]]),
    m:fs(erlang, [universaltime_to_posixtime], [[{{1970, 1, 1}, {0, 0, 0}}, {{2000, 2, 29}, {23, 59, 59}}, {{2001, 2, 29}, {0, 0, 0}}, {{1969, 12, 31}, {23, 59, 59}}, {{1, 1, 1}, {0, 0, 0}}, a, {a, b}, {{1970, 13, 1}, {0, 0, 0}}, {{1970, 1, 1}, {24, 0, 0}}]]), m:f(erlang, posixtime_to_universaltime, [[0, 1, -1, 1 bsl 31, 1 bsl 33, -(1 bsl 33), 1 bsl 60, 1 bsl 70, a]]),
    m:fs(erlang, [localtime_to_universaltime, universaltime_to_localtime], [[{{2020, 1, 1}, {0, 0, 0}}, {{2020, 13, 1}, {0, 0, 0}}, {{2020, 1, 1}, a}, a]]), m:f(erlang, localtime_to_universaltime, [[{{2020, 1, 1}, {0, 0, 0}}], [true, false, undefined, a]]).
