%% Records of more elements than a tuple may have: no term is one, and the module loads.
-module(record_huge).
-compile(no_copt).
-export([main/0]).
main() ->
    Terms = [{b, 1}, {}, x, {b}, [b], #{}, list_to_tuple([b | lists:duplicate(8388607, 0)])],
    t:p([[a(T), b(T), c(T), d(T)] || T <- Terms]).
a(X) -> is_record(X, b, 134217728).
b(X) -> is_record(X, b, 1 bsl 40).
c(X) -> is_record(X, b, 8388608).
d(X) -> is_record(X, b, 8388607).
