%% Key functions of lists.
-module(mx_lists_key).
-export([main/0]).
main() ->
    Ls = [[], [{a, 1}], [{a, 1}, {b, 2}, {a, 3}], [{1, a}, {1.0, b}], [{x}, {a, 1}], [a, {a, 1}], [{a, 1} | b], a, [{{k}, a}, {"k", b}]],
    Ks = [a, 1, 1.0, {k}, "k"], Ns = [1, 2, 3, 0, -1, a, 1 bsl 64],
    m:fs(lists, [keyfind, keymember, keysearch, keydelete, keytake], [Ks, Ns, Ls]),
    m:fs(lists, [keyreplace, keystore], [Ks, Ns, Ls, [{new, 1}, new]]),
    m:fs(lists, [keysort, ukeysort], [Ns, Ls]),
    m:fs(lists, [keymerge, ukeymerge], [[1, 2], Ls, Ls]),
    m:f(lists, keymap, [[fun erlang:is_atom/1], Ns, Ls]).
