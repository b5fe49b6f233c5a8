%% The clocks of the operating system: what `system_info/1` says they tell is what they tell.
-module(clock_sources).
-export([main/0]).

main() ->
    t:p({older_than_this_node, time(os_monotonic_time_source) > age() + 1_000_000_000}),
    t:p({posix, near(time(os_system_time_source), os:system_time(), 2_000_000_000)}),
    [A, B] = [begin timer:sleep(3), time(os_monotonic_time_source) end || _ <- [1, 2]],
    t:p({later, B - A >= 3_000_000}),
    t:p([[{K, V} || {K, V} <- erlang:system_info(S), K =/= time] || S <- [os_monotonic_time_source, os_system_time_source]]).

time(Source) -> proplists:get_value(time, erlang:system_info(Source)).

near(A, B, Distance) -> abs(A - B) < Distance.

age() -> erlang:convert_time_unit(erlang:monotonic_time() - erlang:system_info(start_time), native, nanosecond).
