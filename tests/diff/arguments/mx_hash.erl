%% Hashes of every kind of term in every range.
-module(mx_hash).
-export([main/0]).
main() ->
    As = m:any() -- [self()], Plain = [X || X <- As ++ m:nums() ++ m:maps() ++ m:bins() ++ m:tuples(), not is_reference(X), not is_pid(X)],
    m:f(erlang, phash2, [Plain]), m:fs(erlang, [phash2, phash], [Plain, [1, 2, 1000, 1 bsl 27, 1 bsl 32, 0, -1, (1 bsl 32) + 1, a]]).
