%% What is called in a module that was loaded: sensible arguments for each function of the seeds,
%% then senseless ones.
-module(corrupt_calls).
-export([calls/1, senseless/2]).

bin() -> <<"GET ", 4, 4, 69, 0, 0, 20, "PUT ", 2, "xyabcdefgh", 1, 200, 3, "\x{c3}\x{a9}", 7:5>>.
long() -> binary:copy(<<"0123456789 abc ">>, 20).
floats() -> <<1.5/float, 2.25:32/float-little, 0.5:16/float, 9, 3.0/float>>.
map() -> #{a => 1, b => 2, {k} => [v]}.
large() -> maps:from_list([{N, N} || N <- lists:seq(1, 50)]).

%% [{Function, Arguments}]
calls(cs_data) ->
    L = [3, 1.5, a, {b}, <<"c">>, [d]],
    [{rev, [L]}, {zip, [L, L]}, {sum, [L]}, {pairs, [[1, 2, 3]]}, {tup, [2, {a, b}]}, {tup, [9, {a, b}]},
     {tup, [9, {a, b, c}]}, {set, [{1, 2, 3, 4, 5, 6}, x]}, {set, [{1}, x]}, {upd, [{r, 1, 2, 3}, y]},
     {upd, [z, y]}]
    ++ [{sel, [X]} || X <- [a, g, 1, 300, 40000, 1 bsl 70, [], 1.5, "text", zz]]
    ++ [{selt, [X]} || X <- [{}, {1}, {1, 2}, {1, 2, 3}, {1, 2, 3, 4}, {1, 2, 3, 4, 5, 6}, x]]
    ++ [{sels, ["abc"]}, {sels, [[4]]}, {sels, [[a, 3.0]]}, {cmp, [1, 1.0]}, {cmp, [L, {}]},
        {arith, [7, 2]}, {arith, [1 bsl 59, -3]}, {arith, [1 bsl 80, 1 bsl 70]}, {arith, [1.5, 2]},
        {maps, [k, v]}, {maps, [a, v]}, {mupd, [map()]}, {mupd, [#{}]}, {mupd, [#{z => 1}]},
        {mupd, [large()]}, {many, [1, 2, 3, 4, 5, 6, 7, 8]}, {deep, [6]}, {guards, [[a, b, c], a]},
        {guards, [x, 1]}, {guards, [<<"long">>, 1]}, {guards, [{a}, a]}, {guards, [fun hd/1, 1]},
        {guards, [false, true]}, {guards, [1.5, 1]}, {guards, [map(), a]}, {guards, [5, 1]},
        {guards, [0, x]}, {rec, [{r, 1, 2, 3}]}, {rec, [{r, 2, 9, 3}]}, {rec, [{r, x, 0, 3}]},
        {rec, [x]}, {big, [12]}, {big, [-1]}, {nested, [[1, 2, 3], {3, x}]}, {nested, [[], y]},
        {nested, [[1, 2, 3], {0, x}]}, {swap, [1, 2, 3]}, {swap, [3, 1, 2]}]
    ++ [{tests, [X]} || X <- [[], a, self(), 1]];
calls(cs_bits) ->
    B = bin(),
    [{bytes, [<<"abc">>]}, {bits, [<<5:4>>]}, {ints, [B]}, {ints, [<<1:5>>]}, {floats, [floats()]},
     {utf, [B]}, {utf, [<<255, 255, 0, 0, 0, 65>>]}, {parse, [B]}, {parse, [<<2, 3>>]},
     {build, [65, B, -7]}, {build, [65, long(), 1 bsl 70]}, {build, [-1, x, y]}, {append, [<<>>, "abc"]},
     {append, [<<>>, 40]}, {append, [long(), [1, 2, 3]]}, {append, [<<1:3>>, []]}, {bc, [<<"abc">>]},
     {bc, [long()]}, {tail, [<<"abc">>]}, {tail, [<<1, 2>>]}, {tail, [<<1:2>>]}, {str, [<<"abcdefgh1">>]},
     {str, [<<"abcd">>]}, {str, [<<1:5, "xy">>]}, {sizes, [B, 3]}, {sizes, [B, 0]}, {sizes, [B, 999]},
     {sizes, [long(), 8]}, {keep, [<<"abcd", 0>>]}, {keep, [long()]}, {words, [long()]},
     {nested, [<<2, 1, 7, 1, 0>>]}, {nested, [<<3:4>>]}, {fields, [<<4:4, 6:4, 0, 3:16, "opts", "data">>]},
     {fields, [<<4:4, 6:4, 0, 3:16>>]}, {units, [<<1, 2>>]}, {units, [<<1:27>>]}, {units, [<<1:9>>]},
     {units, [<<1:7>>]}, {back, [<<1, 2, 1, 200, 3>>]}, {back, [<<7, 7, 7>>]}, {back, [<<7>>]},
     {mix, [<<"a1b2">>, <<>>]}, {mix, [long(), <<"x">>]}];
calls(cs_flow) ->
    F = fun (X) -> {X} end,
    [{tries, [[1]]}, {tries, [[a]]}, {tries, [[2]]}, {tries, [x]}, {catches, [1]}, {catches, [x]},
     {after_, [self(), 2]}, {after_, [8, 2]}, {nest, [[1], [2]]}, {nest, [1, 2]}, {nest, [[a], [b | c]]},
     {again, [1]}, {again, [5]}, {recv, [0]}, {recv, [1]}, {recv, [1]}, {recv2, [ref, 3]},
     {selective, [x]}, {none, []}, {call, [F, 1]}, {call, [fun erlang:abs/1, 1]}, {call, [x, 1]},
     {call, [fun erlang:'+'/2, 1]}, {funs, [1, [2]]}, {env, [1, 2, 3, 4]},
     {fold, [fun (A, B) -> [A | B] end, [], [1, 2, 3]]}, {app, [lists, reverse, [[1, 2]]]},
     {app, [erlang, abs, [-1]]}, {app2, [F]}, {flo, [1.5, 2.5]}, {flo, [1, 2]}, {flo, [1.0e300, 1.0e300]},
     {flo2, [3]}, {flo2, [1.0e200]}, {flo2, [x]}, {horner, [[1.0, 2.0, 3.0], 0.5]}, {loop, [50, []]},
     {mutual, [9, x]}, {dict, [y]}, {send, [self(), b]}, {trace, [{a, 1}]}, {trace, [x]},
     {clause, [[{a, 1}]]}, {matches, [{1, [<<2>> | #{k => 3}]}]}, {ping, [1]}, {compose, [F, F]},
     {rec, [[{1, 2}, 3 | 4]]}, {lc, [[{2, x}, {1, y}, z, {4, []}]]}, {mean, [[1, 2.5, 3]]}, {mean, [[]]}]
    ++ [{errors, [E, X]} || E <- [badmatch, case_, if_, fun_, try_, badarity, error, undef, map, exit],
                            X <- [a, {ok, 1}]];
calls(c_lists) ->
    L = [3, 1, 2, 5, 4, 1], K = [{b, 2}, {a, 1}, {c, 3}],
    F = fun (X) -> X > 2 end, G = fun (X, A) -> [X | A] end,
    [{sort, [L]}, {usort, [L]}, {keysort, [1, K]}, {ukeysort, [1, K]}, {keymerge, [1, K, K]},
     {sort, [fun (A, B) -> A >= B end, L]}, {map, [F, L]}, {filter, [F, L]}, {foldl, [G, [], L]},
     {foldr, [G, [], L]}, {partition, [F, L]}, {splitwith, [F, L]}, {split, [2, L]}, {nth, [2, L]},
     {nthtail, [2, L]}, {last, [L]}, {sublist, [L, 2, 3]}, {zip3, [L, L, L]}, {unzip3, [[{1, 2, 3}]]},
     {flatten, [[L, [L | [a]]]]}, {concat, [[a, 1, "x"]]}, {delete, [1, L]}, {subtract, [L, [1]]},
     {duplicate, [3, x]}, {seq, [1, 9, 2]}, {sum, [L]}, {max, [L]}, {merge, [[L, L]]}, {umerge, [L, L]},
     {mapfoldl, [fun (X, A) -> {X, A + X} end, 0, L]}, {join, [x, L]}, {search, [F, L]},
     {rukeymerge, [1, K, K]}, {keyreplace, [a, 1, K, {a, z}]}, {droplast, [L]}, {prefix, [[3], L]},
     {suffix, [[1], L]}, {all, [F, L]}, {zipwith, [G, L, L]}, {flatlength, [[L, [L]]]}];
calls(c_maps) ->
    M = map(), N = large(), F = fun (_, V) -> V =/= 1 end,
    [{filter, [F, M]}, {map, [F, N]}, {fold, [fun (K, V, A) -> [{K, V} | A] end, [], N]},
     {get, [a, M, x]}, {get, [zz, M, x]}, {size, [N]}, {with, [[a, 1], N]}, {without, [[a, 1], N]},
     {update_with, [a, fun (X) -> X + 1 end, M]}, {update_with, [q, fun (X) -> X end, 0, M]},
     {merge_with, [fun (_, A, B) -> A + B end, N, N]}, {intersect, [M, N]}, {groups_from_list, [F, [1]]},
     {iterator, [N]}, {next, [maps:iterator(N)]}, {to_list, [N]}, {filtermap, [F, N]}, {foreach, [F, M]},
     {from_list, [[{a, 1}]]}, {new, []}, {intersect_with, [fun (_, A, _) -> A end, N, N]}];
calls(c_dict) ->
    D = dict:from_list([{K, K} || K <- lists:seq(1, 40)]), F = fun (_, V) -> V + 1 end,
    [{from_list, [[{1, 2}]]}, {store, [7, x, D]}, {store, [77, x, D]}, {find, [3, D]}, {fetch, [3, D]},
     {erase, [3, D]}, {to_list, [D]}, {map, [F, D]}, {filter, [fun (K, _) -> K > 3 end, D]},
     {fold, [fun (_, V, A) -> V + A end, 0, D]}, {merge, [fun (_, A, _) -> A end, D, D]},
     {update, [5, fun (X) -> X end, D]}, {update_counter, [5, 3, D]}, {append, [99, z, D]},
     {take, [4, D]}, {size, [D]}, {fetch_keys, [D]}, {is_empty, [D]}, {append_list, [98, [z], D]}];
calls(c_gb_trees) ->
    T = gb_trees:from_orddict([{K, K} || K <- lists:seq(1, 40)]),
    [{insert, [77, x, T]}, {enter, [7, x, T]}, {delete, [7, T]}, {delete_any, [700, T]}, {get, [5, T]},
     {lookup, [5, T]}, {balance, [T]}, {to_list, [T]}, {keys, [T]}, {values, [T]}, {smallest, [T]},
     {largest, [T]}, {take_smallest, [T]}, {take_largest, [T]}, {take, [8, T]}, {iterator, [T]},
     {next, [gb_trees:iterator(T)]}, {map, [fun (_, V) -> {V} end, T]}, {update, [5, y, T]},
     {iterator_from, [20, T]}, {is_defined, [3, T]}, {from_orddict, [[{1, 2}, {3, 4}]]}];
calls(c_base64) ->
    [{encode, [long()]}, {encode, ["abc"]}, {decode, [base64:encode(long())]}, {decode, ["YWJj"]},
     {mime_decode, [<<"YW Jj=\n">>]}, {decode, [<<"%%">>]}, {encode_to_string, [<<"abcd">>]},
     {decode_to_string, ["YWJj"]}, {mime_decode_to_string, ["YWJj"]}];
calls(c_uri_string) ->
    U = "http://user@host:80/a/./b/../c?x=1&y=%20#frag",
    [{parse, [U]}, {parse, [list_to_binary(U)]}, {normalize, [U]}, {recompose, [uri_string:parse(U)]},
     {dissect_query, ["x=1&y=2"]}, {compose_query, [[{"a", "b"}]]}, {resolve, ["../x", U]},
     {parse, ["//[::1]:8/x"]}, {percent_decode, ["%20"]}, {parse, ["bad\x{1}"]}, {quote, ["a b"]},
     {transcode, [<<"a%00">>, [{in_encoding, utf8}, {out_encoding, utf16}]]}];
calls(c_queue) ->
    Q = queue:from_list([1, 2, 3, 4, 5]),
    [{in, [6, Q]}, {out, [Q]}, {out_r, [Q]}, {reverse, [Q]}, {join, [Q, Q]}, {split, [2, Q]}, {len, [Q]},
     {filter, [fun (X) -> X > 2 end, Q]}, {to_list, [Q]}, {member, [3, Q]}, {drop, [Q]}, {fold, [fun (X, A) -> X + A end, 0, Q]}];
calls(c_string) ->
    [{tokens, ["a,b c", ", "]}, {lexemes, [<<"a,b c">>, ", "]}, {uppercase, ["abc"]}, {trim, [" a "]},
     {split, ["a-b-c", "-", all]}, {replace, ["abcabc", "b", "x", all]}, {pad, ["a", 5, both]},
     {find, [<<"hello">>, <<"l">>]}, {slice, ["hello", 1, 2]}, {length, [<<"h\x{c3}\x{a9}">>]},
     {to_integer, ["12x"]}, {to_float, ["1.5e3x"]}, {equal, ["a", <<"a">>, true]}, {reverse, [<<"abc">>]},
     {titlecase, ["abc"]}, {prefix, ["abc", "ab"]}, {casefold, ["ABC"]}, {jaro, ["abc", "abd"]}];
calls(c_array) ->
    A = array:from_list(lists:seq(1, 30)),
    [{new, []}, {new, [[{size, 9}, {default, x}]]}, {set, [50, y, A]}, {get, [7, A]}, {to_list, [A]},
     {foldl, [fun (_, V, S) -> V + S end, 0, A]}, {map, [fun (_, V) -> {V} end, A]}, {resize, [5, A]},
     {sparse_to_orddict, [A]}, {from_orddict, [[{3, x}, {70, y}]]}, {fix, [A]}, {reset, [3, A]}, {relax, [A]}];
calls(c_erl_scan) ->
    [{string, ["f(X) -> \"a\\x{62}\" ++ $c, 16#ff + 1.5e3 % c\n."]}, {string, ["'a b' <<1:2>> #{a => b}."]},
     {tokens, [[], "a. b", 1]}, {string, ["\"bad"]}, {string, ["1.2.3"]}, {reserved_word, ['case']}];
calls(c_calendar) ->
    [{date_to_gregorian_days, [2024, 2, 29]}, {gregorian_days_to_date, [700000]}, {day_of_the_week, [{2024, 1, 1}]},
     {iso_week_number, [{2021, 1, 3}]}, {rfc3339_to_system_time, ["2018-02-01T16:17:58+01:00"]},
     {seconds_to_daystime, [-5]}, {time_difference, [{{2000, 1, 1}, {0, 0, 0}}, {{2001, 1, 1}, {1, 2, 3}}]},
     {system_time_to_rfc3339, [1517498278]}, {valid_date, [2023, 2, 29]}, {last_day_of_the_month, [2024, 2]}];
calls(c_io_lib_format) ->
    [{fwrite, ["~p ~w ~s ~8.3f ~e ~b ~c~n", [{a, [b]}, "x", "str", 1.5, 2.5, 255, $x]]},
     {fwrite, ["~*c ~tp ~16.2.0b", [3, $a, <<"x">>, 77]]}, {fwrite_g, [1.0e22]}, {iolist_to_chars, [["a", <<"b">>]]},
     {scan, ["~p ~a", [x, y]]}, {fwrite, ["~i~", []]}];
calls(c_rand) ->
    S = rand:seed_s(exsss, 1),
    [{seed_s, [exro928ss, 5]}, {uniform_s, [S]}, {uniform_s, [100, S]}, {normal_s, [S]}, {bytes_s, [20, S]},
     {jump, [S]}, {export_seed_s, [S]}, {mwc59, [rand:mwc59_seed(1)]}, {uniform_real_s, [S]},
     {seed_s, [mrg32k3a, {1, 2, 3}]}, {exsp_next, [[1 | 2]]}];
calls(c_proplists) ->
    P = [a, {b, 1}, {c, 2, 3}, {b, 2}],
    [{get_value, [b, P]}, {get_all_values, [b, P]}, {unfold, [P]}, {compact, [P]}, {expand, [[{a, [x]}], P]},
     {normalize, [P, [{aliases, [{a, z}]}]]}, {split, [P, [b]]}, {to_map, [P]}, {delete, [b, P]}, {get_bool, [a, P]}];
calls(c_ordsets) ->
    S = [1, 3, 5], T = [2, 3, 4],
    [{union, [S, T]}, {intersection, [S, T]}, {subtract, [S, T]}, {add_element, [4, S]}, {del_element, [3, S]},
     {is_subset, [S, T]}, {fold, [fun (X, A) -> X + A end, 0, S]}, {union, [[S, T, S]]}, {is_disjoint, [S, T]}];
calls(_) -> [].

%% Arguments for the exported functions, of any type.
senseless(Exports, Number) ->
    T = {[], [a], {}, {a, b, c}, 0, -1, 1 bsl 70, 1.5, a, <<>>, <<1:3>>, bin(), #{}, large(), self(),
         make_ref(), fun erlang:hd/1, [1 | 2], "text", lists},
    [{F, [element(1 + (Number + 7 * I + 3 * A) rem tuple_size(T), T) || I <- lists:seq(1, A)]}
     || {F, A} <- Exports].
