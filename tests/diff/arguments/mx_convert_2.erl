%% Conversions that take a base, an encoding or options.
-module(mx_convert_2).
-export([main/0]).
main() ->
    Bases = [2, 10, 16, 36, 1, 37, 0, a],
    m:fs(erlang, [integer_to_list, integer_to_binary], [m:ints(), Bases]),
    m:f(erlang, list_to_integer, [["10", "-zz", "+7f", "", "1 ", "99999999999999999999", a, [1000]], Bases]),
    m:f(erlang, binary_to_integer, [[<<"10">>, <<"-zz">>, <<"+7f">>, <<>>, <<"1 ">>, <<"-">>, a, <<1:1>>], Bases]),
    Encs = [latin1, utf8, unicode, bad, 1, []],
    m:f(erlang, atom_to_binary, [m:atoms(), Encs]),
    m:fs(erlang, [binary_to_atom, binary_to_existing_atom], [[<<"a">>, <<255>>, <<"é"/utf8>>, <<"漢"/utf8>>, <<>>, binary:copy(<<"x">>, 255), binary:copy(<<"x">>, 256), <<1:1>>, a, "a"], Encs]).
