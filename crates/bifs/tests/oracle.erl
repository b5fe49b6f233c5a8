%% Prints what OTP answers to calls of natives: each line of the file is the length and the external
%% form of {Module, Function, Args, Answer}.
-module(oracle).
-export([main/1]).

main([Out]) ->
    rand:seed(exsss, {1, 2, 3}),
    Calls = lists:append([fixed(), [random() || _ <- lists:seq(1, 4000)]]),
    ok = file:write_file(Out, [case_of(C) || C <- Calls]),
    halt().

case_of({M, F, A}) ->
    R = try {ok, apply(M, F, A)} catch Class:Reason -> {Class, Reason} end,
    B = term_to_binary({M, F, A, R}),
    [<<(byte_size(B)):32>>, B].

n(N) -> rand:uniform(N + 1) - 1.
pick(L) -> lists:nth(rand:uniform(length(L)), L).

random() ->
    case n(27) of
        0 -> {erlang, list_to_binary, [iolist(3)]};
        1 -> {erlang, iolist_to_binary, [iolist(4)]};
        2 -> {erlang, iolist_size, [iolist(4)]};
        3 -> {erlang, list_to_bitstring, [bitlist(3)]};
        4 -> {erlang, bitstring_to_list, [bits()]};
        5 -> {erlang, binary_to_list, [bin(), n(20), n(20)]};
        6 -> {erlang, split_binary, [bits(), n(20)]};
        7 -> {erlang, binary_part, [bits(), n(20), n(20) - 8]};
        8 -> {unicode, characters_to_binary, [chars(3), pick([utf8, latin1, unicode])]};
        9 -> {unicode, characters_to_list, [chars(3), pick([utf8, latin1, unicode])]};
        10 -> {unicode, characters_to_binary, [bin(), utf8]};
        11 -> {binary, match, [abin(), pattern()]};
        12 -> {binary, matches, [abin(), pattern(), [{scope, {n(9), n(9) - 4}}]]};
        13 -> {binary, matches, [abin(), pattern()]};
        14 -> {binary, split, [abin(), pattern(), [O || O <- [global, trim, trim_all], n(1) =:= 0]]};
        15 -> {binary, split, [abin(), pattern(), [global, {scope, {n(9), n(9) - 4}}]]};
        16 -> {binary, longest_common_prefix, [[abin() || _ <- lists:seq(0, n(3))]]};
        17 -> {binary, longest_common_suffix, [[abin() || _ <- lists:seq(0, n(3))]]};
        18 -> {binary, encode_unsigned, [int(), pick([big, little])]};
        19 -> {binary, decode_unsigned, [bin(), pick([big, little])]};
        20 -> {erlang, term_to_binary, [pick([term(4), big_map()]), opts()]};
        21 -> {erlang, binary_to_term, [damaged(term_to_binary(term(3)))]};
        22 -> {erlang, crc32, [iolist(3)]};
        23 -> {erlang, adler32, [n(16#FFFFFFF), iolist(3)]};
        24 -> {erlang, md5, [iolist(4)]};
        25 -> {re, run, [list_to_binary([abin(), pick(["abca", "bbab", "ccca"])]), regex(3), re_opts()]};
        26 -> {re, run, [list_to_binary([abin(), pick(["abca", "bbab", "ccca"])]), regex(2), re_opts()]};
        27 -> {re, run, [list_to_binary([abin(), "abcab", pick([<<0>>, <<"å">>, <<10>>, <<13,10>>]), abin()]), regex(2), re_opts()]}
    end.

regex(0) -> pick(["a", "b", "c", ".", "^", "$", "[ab]", "[^a]", "\\w", "\\s", "\\d", "\\n", "\\b", "\\A", "\\z", [229], [197], "\\x{41}", "\\R", "\\1", "(?i)B", "", "[[:alpha:]]", "\\Q.\\E"]);
regex(D) ->
    R = fun() -> regex(D - 1) end,
    case n(12) of
        0 -> [R(), "|", R()];
        1 -> ["(", R(), ")", pick(["", "*", "+", "?", "{2}", "{1,2}", "*?", "++"])];
        2 -> ["(?:", R(), ")", pick(["*", "+", "?", "{0,3}"])];
        3 -> ["(?<", pick(["x", "y", "z"]), ">", R(), ")"];
        4 -> ["(?=", R(), ")", R()];
        5 -> ["(?!", R(), ")", R()];
        6 -> ["(?>", R(), ")"];
        7 -> [R(), pick(["*", "+", "?", "{2}", ")", "(", "[", "{", "\\", "(?", "(?<n", "(?P=x)", "\\g{5}"])];
        8 -> ["(?<=", regex(0), ")", R()];
        _ -> [R(), R()]
    end.
re_opts() ->
    [O || O <- [caseless, dotall, multiline, extended, anchored, dollar_endonly, firstline, ungreedy, dupnames, no_auto_capture,
                notbol, noteol, notempty, notempty_atstart, {newline, pick([cr, lf, crlf, any, anycrlf])}, bsr_anycrlf, {offset, n(4)}],
          n(9) =:= 0] ++
        case n(3) of
            0 -> [];
            _ -> [{capture, pick([all, all_but_first, first, none, all_names, [1], [0, 2, 1], [x], [<<"y">>, "x", 1], [-1], []]),
                   pick([index, list, binary])}]
        end.

bytes(N) -> << <<(n(255))>> || _ <- lists:seq(1, N)>>.
bin() -> case n(5) of 0 -> bytes(n(300)); 1 -> unicode:characters_to_binary([uchar() || _ <- lists:seq(0, n(6))]); _ -> bytes(n(20)) end.
bits() -> B = bin(), K = n(bit_size(B)), <<_:K/bits, R/bits>> = B, R.
abin() -> << <<(pick("abc"))>> || _ <- lists:seq(1, n(12))>>.
pattern() ->
    case n(2) of
        0 -> abin();
        _ -> [abin() || _ <- lists:seq(0, n(3))]
    end.
int() ->
    case n(3) of
        0 -> n(300) - 20;
        1 -> n(1 bsl 70) - (1 bsl 69);
        2 -> n(1 bsl 33) - (1 bsl 32);
        3 -> (n(1 bsl 64) bsl n(3000)) * pick([1, -1])
    end.
iolist(0) -> pick([[], n(255), bin()]);
iolist(D) ->
    L = [iolist(D - 1 - n(D - 1)) || _ <- lists:seq(1, n(5))],
    case n(40) of
        0 -> L ++ bin();
        1 -> L ++ [pick([a, -1, 256, <<1:3>>, 1.5])];
        _ -> L
    end.
bitlist(0) -> pick([[], n(255), bits()]);
bitlist(D) -> [bitlist(D - 1) || _ <- lists:seq(1, n(5))].
uchar() -> pick([n(127), 128 + n(2000), 16#E000 + n(1000), 16#10000 + n(16#FFFFF)]).
chars(0) ->
    case n(12) of
        0 -> bytes(n(3));
        1 -> pick([-1, 16#D800, 16#110000, 1 bsl 70, a, 300, <<1:3>>]);
        2 -> B = unicode:characters_to_binary([uchar()]),
             {X, Y} = split_binary(B, n(byte_size(B))), [X, Y];
        3 -> unicode:characters_to_binary([uchar(), uchar()]);
        4 -> [];
        _ -> uchar()
    end;
chars(D) ->
    L = [chars(D - 1 - n(D - 1)) || _ <- lists:seq(1, n(4))],
    case n(9) of 0 -> L ++ bin(); _ -> L end.
term(0) ->
    case n(9) of
        0 -> pick([a, true, '', 'å', list_to_atom([16#3b1, 16#3b2]), list_to_atom(lists:duplicate(200, $x)), list_to_atom(lists:duplicate(200, 16#3b1))]);
        1 -> int();
        2 -> n(100) / 7 - 3;
        3 -> bits();
        4 -> [];
        5 -> [n(255) || _ <- lists:seq(1, n(20))];
        6 -> self();
        7 -> pick([make_ref(), hd(erlang:ports())]);
        8 -> n(300);
        9 -> binary_to_term(pick([<<131,88,100,0,3,"a@b",0,0,0,9,0,0,0,7,0,0,0,3>>,
                                 <<131,120,100,0,3,"a@b",9,0,0,9,0,0,0,7,0,0,0,3>>,
                                 <<131,90,0,5,100,0,3,"a@b",9,0,0,9,0,0,0,7,0,0,0,3,1,1,1,1,2,2,2,2,3,3,3,3>>]))
    end;
term(D) ->
    L = [term(D - 1 - n(D - 1)) || _ <- lists:seq(1, n(5))],
    case n(5) of
        0 -> list_to_tuple(L);
        1 -> L ++ term(0);
        2 -> maps:from_list([{term(D - 1), T} || T <- L]);
        3 -> maps:from_list([{int(), term(0)} || _ <- lists:seq(1, n(30))]);
        _ -> L
    end.
big_map() -> maps:from_list([{key(), []} || _ <- lists:seq(1, n(300))]).
key() -> pick([n(100000), int(), bin(), {n(9), [n(3000), n(99)]}, [n(3000) | bin()], #{n(9) => n(9)}, bits(), [bin()], n(1000) / 16, "str"]).
opts() -> [O || O <- [{minor_version, n(3)}, deterministic, {compressed, n(9)}, compressed], n(2) =:= 0].
damaged(B) ->
    case n(3) of
        0 -> binary:part(B, 0, n(byte_size(B)));
        1 -> {X, <<C, Y/binary>>} = split_binary(B, n(byte_size(B) - 1)), <<X/binary, (C bxor (1 bsl n(7))), Y/binary>>;
        2 -> <<B/binary, 0, 1>>;
        3 -> B
    end.

fixed() ->
    [{erlang, F, A} || {F, A} <- [
        {list_to_binary, [<<1>>]}, {list_to_binary, [a]}, {iolist_to_binary, [<<1:3>>]},
        {iolist_to_iovec, [[<<1>>, [2, bytes(100), 3]]]}, {iolist_to_iovec, [[1, bytes(255), 2, bytes(256), bytes(300), 3]]}, {iolist_to_iovec, [<<1>>]}, {iolist_to_iovec, [[]]}, {iolist_to_iovec, [<<>>]},
        {binary_to_list, [<<1:9>>]}, {binary_to_list, [<<1, 2, 3>>]}, {split_binary, [<<1:9>>, 1]},
        {split_binary, [<<1:9>>, 2]}, {split_binary, [a, 0]}, {binary_part, [<<1, 2, 3>>, {1, 1}]},
        {binary_part, [<<1, 2, 3>>, {3, -2}]}, {binary_part, [<<1, 2, 3>>, {4, -2}]},
        {crc32, ["abc"]}, {crc32, [7, "abc"]}, {crc32, [-1, "abc"]}, {crc32_combine, [7, 9, 100]},
        {adler32, ["abc"]}, {adler32_combine, [77777, 999999, 1000]}, {adler32_combine, [16#11E60398, 16#01330099, 5]},
        {md5, ["abc"]}, {md5, [<<1:3>>]}, {external_size, [a]}, {term_to_binary, [a, [x]]},
        {term_to_binary, [a, [{compressed, 10}]]}, {binary_to_term, [<<131, 97, 1, 7>>, [used]]},
        {binary_to_term, [<<131, 100, 0, 12, "no_such_atom">>, [safe]]}, {binary_to_term, [<<>>]},
        {binary_to_term, [term_to_binary(lists:duplicate(1000, a), [compressed])]},
        {binary_to_term, [term_to_binary(lists:duplicate(1000, a), [compressed]), [used]]},
        {binary_to_term, [<<131, 108, 255, 255, 255, 255, 97>>]}, {binary_to_term, [<<131, 116, 0, 0, 0, 2, 97, 1, 97, 1, 97, 1, 97, 2>>]},
        {binary_to_term, [<<131, 70, 127, 240, 0:48>>]}, {binary_to_term, [<<131, 110, 1, 1, 0>>]},
        {binary_to_term, [<<131, 98, 255, 255, 255, 255>>]}, {binary_to_term, [<<131, 77, 0, 0, 0, 1, 9, 1>>]}
    ]] ++
    [{binary, F, A} || {F, A} <- [
        {first, [<<>>]}, {first, [<<7>>]}, {last, [<<>>]}, {last, [<<7, 8>>]}, {at, [<<7, 8>>, 1]}, {at, [<<7, 8>>, 2]},
        {at, [<<7, 8>>, -1]}, {copy, [<<7, 8>>]}, {copy, [<<7, 8>>, 3]}, {copy, [<<7, 8>>, 0]}, {copy, [<<7, 8>>, -1]},
        {copy, [<<1:3>>]}, {part, [<<1, 2, 3>>, {1, 1}]}, {part, [<<1, 2, 3>>, 3, -1]}, {part, [<<1:9>>, 0, 1]},
        {match, [<<1:9>>, <<1>>]}, {match, [<<1>>, <<>>]}, {match, [<<1>>, []]}, {match, [<<1>>, [<<>>]]}, {match, [<<1>>, a]},
        {match, [<<"abcde">>, [<<"bcde">>, <<"cd">>], []]}, {match, [<<"abcde">>, [<<"bcde">>, <<"cd">>], [{scope, {1, 3}}]]},
        {match, [<<"abc">>, <<"b">>, [x]]}, {split, [<<"a,b,,">>, <<",">>]}, {split, [<<>>, <<",">>, [trim]]},
        {split, [<<",">>, <<",">>, [trim_all]]}, {longest_common_prefix, [[]]}, {longest_common_prefix, [[a]]},
        {encode_unsigned, [0]}, {encode_unsigned, [-1]}, {decode_unsigned, [<<>>]}, {decode_unsigned, [<<0, 0, 1>>]},
        {list_to_bin, [[1, <<2>>]]}, {list_to_bin, [<<2>>]}
    ]] ++
    [{re, run, ["abc", R, [report_errors]]} || R <- errors()] ++
    [{re, compile, [R]} || R <- errors()] ++
    [{re, F, A} || {F, A} <- [
        {version, []}, {compile, [a]}, {compile, ["a", [x]]}, {compile, ["a", [global]]}, {compile, ["a", [{offset, 1}]]},
        {run, [a, "a"]}, {run, ["a", a]}, {run, ["a", "a", x]}, {run, ["a", "a", [{capture, x}]]}, {run, ["a", "a", [{capture, all, x}]]},
        {run, ["a", "a", [{capture, [a | b]}]]}, {run, ["a", {re_pattern, 1, 0, 3, <<>>}]}, {run, ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "(a+)*b", [{match_limit, 100}, report_errors]]},
        {run, ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "(a+)*b", [{match_limit, 100}]]}, {run, [<<"\303\245">>, <<"^.$">>, [unicode]]}, {run, [<<"\303">>, <<"^.$">>, [unicode]]},
        {run, [<<"a\303\245">>, <<"\303\205">>, [unicode, caseless, {capture, all, binary}]]}, {run, [<<"a\303\245">>, <<".">>, [unicode, {offset, 2}]]},
        {run, ["ab", "(a)|(b)", [{capture, all}]]}, {run, ["b", "(a)|(b)", [{capture, all, list}]]}, {run, ["ab", "(a)(x)?(y)?", [{capture, all, binary}]]},
        {run, ["ABCabcdABC","abcd",[{capture,all_names,list}]]}
    ]] ++
    [{erlang, decode_packet, [K, B, O]} || K <- [0, 1, 2, 4, asn1, sunrm, cdr, fcgi, line, tpkt, ssl_tls, raw, 3, x],
        O <- [[], [{packet_size, 4}], [{line_length, 3}]], B <- packets()] ++
    [{erlang, decode_packet, [K, B, O]} || K <- [http, httph, http_bin, httph_bin], B <- http(), O <- [[], [{packet_size, 20}], [{line_length, 15}]]] ++
    [{erlang, decode_packet, [line, <<"ab;cd">>, [{line_delimiter, $;}]]}, {erlang, decode_packet, [raw, <<"a">>, [x]]}, {erlang, decode_packet, [2, <<1:4, 0, 2, "abcd", 3:3>>, []]}] ++
    [{unicode, bin_is_7bit, [B]} || B <- [<<>>, <<127>>, <<128>>, <<1:3>>, a]].

errors() ->
    ["(", ")", "a**", "*a", "[a", "a{2,1}", "(?<n", "(?<n>a", "\\", "[b-a]", "(?<n>a)(?<n>b)", 
     "\\p{Foo}", "(?#abc", "\\c", "(?z)", "\\x{110000000}", "(?<1>a)", "(*FOO)", "a{99999}", "(?C256)", "x++++"].

packets() ->
    [<<>>, <<0>>, <<1>>, <<1, 2>>, <<2, 1>>, <<0, 2, 1, 2, 3>>, <<0, 0, 0, 3, 1, 2, 3, 4>>, <<128, 0, 0, 2, 1, 2, 3>>, <<255, 255, 255, 255, 1>>,
     <<"GIOP", 1, 2, 1, 0, 3, 0, 0, 0, "abcdef">>, <<"GIOP", 1, 2, 0, 0, 0, 0, 0, 3, "abcdef">>, <<1, 1, 0, 0, 0, 3, 2, 0, "abcdefgh">>,
     <<"ab\ncd\n">>, <<"abcdefgh">>, <<"abcdefgh\n">>, <<3, 0, 0, 8, "abcdefg">>, <<3, 0, 0, 2>>, <<22, 3, 1, 0, 4, "abcdef">>,
     <<128, 9, 1, 3, 1, "abcdefghi">>, <<48, 3, 1, 2, 3, 4>>, <<48, 129, 3, 1, 2, 3, 4>>, <<48, 133, 1, 2, 3, 4, 5, 6>>, <<48, 130, 0>>,
     <<31, 129, 1, 2, 1, 2, 3>>, <<31, 129>>, <<31, 1>>, <<48, 128, 1>>, <<0:4>>].
http() ->
    [<<>>, <<"\r\n">>, <<"\n">>, <<"GET / HTTP/1.1\r\n">>, <<"GET / HTTP/1.1\nx">>, <<"FOO * HTTP/1.0\r\nrest">>, <<"GET http://a.b:80/x?y HTTP/1.1\r\n\r\n">>,
     <<"GET https://a.b HTTP/1.1\r\n\r\n">>, <<"GET HTTP://a.b:x/ HTTP/1.1\r\n">>, <<"CONNECT foo:12 HTTP/1.1\r\n">>, <<"GET foo HTTP/1.1\r\n">>, <<"GET /\r\n">>,
     <<"GET\r\n">>, <<"GET / HTTP/1\r\n">>, <<"GET  /  HTTP/12.34\r\n">>, <<"HTTP/1.1 200 OK\r\n">>, <<"HTTP/1.1 404\r\n">>, <<"HTTP/1.1 404 \r\n">>, <<"HTTP/1.1x\r\n">>,
     <<"HTTP/1. 1\r\n">>, <<"Host: abc\r\nX">>, <<"host:abc\r\n\r\n">>, <<"x-fOO-bar:  abc  \r\n\r\n">>, <<"Host: abc\r\n def\r\n\r\n">>, <<"Host\r\n\r\n">>,
     <<"content-type: a\r\n">>, <<":a\r\n\r\n">>, <<"a b: c\r\n\r\n">>, <<(binary:copy(<<"aB">>, 26))/binary, ": c\r\n\r\n">>, <<"\r\nabc">>, <<"\nabc">>, <<"Cookie2: a\n\n">>].
