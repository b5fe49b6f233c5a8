%% Every type test as a guard, on one value of each type.
-module(guard_types).
-export([main/0]).
-record(rec, {x}).
main() ->
    Values = [1, 1 bsl 70, -3, 1.5, atom, true, [], [a | b], "abc", {}, {rec, 1}, #{}, #{a => 1},
              <<>>, <<1, 2>>, <<1:3>>, self(), make_ref(), fun main/0, fun(X) -> X end],
    lists:foreach(fun(V) -> t:p(kinds(V)) end, Values).
kinds(V) ->
    [K || {K, true} <- [{atom, a(V)}, {binary, b(V)}, {bitstring, bs(V)}, {boolean, bo(V)},
                        {float, f(V)}, {function, fn(V)}, {function1, fn1(V)}, {integer, i(V)},
                        {list, l(V)}, {map, m(V)}, {number, n(V)}, {pid, p(V)}, {port, po(V)},
                        {reference, r(V)}, {tuple, tu(V)}, {record, rec(V)}, {record2, rec2(V)}]].
a(V) when is_atom(V) -> true; a(_) -> false.
b(V) when is_binary(V) -> true; b(_) -> false.
bs(V) when is_bitstring(V) -> true; bs(_) -> false.
bo(V) when is_boolean(V) -> true; bo(_) -> false.
f(V) when is_float(V) -> true; f(_) -> false.
fn(V) when is_function(V) -> true; fn(_) -> false.
fn1(V) when is_function(V, 1) -> true; fn1(_) -> false.
i(V) when is_integer(V) -> true; i(_) -> false.
l(V) when is_list(V) -> true; l(_) -> false.
m(V) when is_map(V) -> true; m(_) -> false.
n(V) when is_number(V) -> true; n(_) -> false.
p(V) when is_pid(V) -> true; p(_) -> false.
po(V) when is_port(V) -> true; po(_) -> false.
r(V) when is_reference(V) -> true; r(_) -> false.
tu(V) when is_tuple(V) -> true; tu(_) -> false.
rec(V) when is_record(V, rec) -> true; rec(_) -> false.
rec2(V) when is_record(V, rec, 2) -> true; rec2(_) -> false.
