%% Which atoms are quoted, and how.
-module(io_atoms_quoted).
-export([main/0]).
main() -> [io:format("~p ~w ~tp ~tw ~ts~n", [A, A, A, A, io_lib:write_atom(A)]) || A <- ['', a, 'A', '_a', a@b, 'a.b', 'a b', '9a', 'é', 'É', 'ß', 'ÿ', '÷', 'a\nb', 'it\'s', '\\', 'if', 'and', 'maybe', 'when', 'a\e', '漢', 'aé漢', '$x', '"', '\x{1F600}']], t:p([io_lib:write_atom_as_latin1(A) || A <- ['é', '漢', a]]), t:p([erl_scan:reserved_word(A) || A <- ['if', 'maybe', 'else', 'begin', a, 'receive', 'bnot']]).
