%% Functions of calendar on dates and times good and bad.
-module(mx_calendar_more).
-export([main/0]).
main() ->
    Ds = [{2000, 2, 29}, {1900, 2, 29}, {0, 1, 1}, {9999, 12, 31}, {2024, 13, 1}, {2024, 0, 1}, {-1, 1, 1}, {a, 1, 1}, a],
    m:fs(calendar, [valid_date, date_to_gregorian_days, day_of_the_week, iso_week_number], [Ds]),
    m:f(calendar, datetime_to_gregorian_seconds, [[{D, T} || D <- Ds, T <- [{0, 0, 0}, {23, 59, 59}, {24, 0, 0}]]]),
    m:fs(calendar, [gregorian_days_to_date, gregorian_seconds_to_datetime, seconds_to_time, seconds_to_daystime], [[0, 1, 59, 86399, 86400, 730000, 63000000000, -1, -86400, a, 1.0]]),
    m:fs(calendar, [is_leap_year], [[0, 4, 100, 400, 1900, 2000, -4, a]]),
    m:f(calendar, last_day_of_the_month, [[1900, 2000, 2023, -1, a], [1, 2, 4, 12, 0, 13]]),
    m:fs(calendar, [time_to_seconds], [[{0, 0, 0}, {23, 59, 59}, {24, 0, 0}, {0, 60, 0}, {-1, 0, 0}, a]]),
    m:f(calendar, rfc3339_to_system_time, [["2018-02-01T16:17:58Z", "2018-02-01 15:18:02.088Z", "2018-02-01T16:17:58+02:00", "1500-01-01T00:00:00Z", "2018-02-01", "2018-02-31T00:00:00Z", "", "x"], [[], [{unit, millisecond}], [{unit, bad}]]]),
    m:f(calendar, system_time_to_rfc3339, [[0, 1517498278, -1, 1 bsl 40, a], [[{offset, "Z"}], [{offset, 3600}], [{offset, "+01:00"}, {time_designator, $\s}], [{offset, "bad"}], [{unit, millisecond}, {offset, "Z"}]]]).
