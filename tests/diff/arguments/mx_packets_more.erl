%% erlang:decode_packet of every kind on whole, partial, empty and bad data.
-module(mx_packets_more).
-export([main/0]).
main() ->
    Ts = [raw, 0, 1, 2, 4, line, asn1, sunrm, cdr, fcgi, tpkt, http, http_bin, httph, httph_bin, bad], Ds = [<<>>, <<0>>, <<3, "ab">>, <<3, "abcd">>, <<0, 2, "abc">>, <<0, 0, 0, 1, "zz">>, <<"line\nrest">>, <<"no newline">>, <<"GET / HTTP/1.1\r\nHost: x\r\n\r\n">>, <<"HTTP/1.0 404 Not Found\r\n">>, <<"Content-Length: 5\r\n\r\n">>, <<"X-Odd : v\r\n more\r\n\r\n">>, <<"\r\n">>, <<48, 3, 1, 1, 255, 7>>, <<128, 0, 0, 2, "hi">>, <<3, 0, 0, 7, "abc">>, <<1, 1, 0, 1, 0, 2, 0, 0, "zz">>, <<"GIOP", 1, 0, 0, 0, 1:32, "x">>, <<"OPTIONS * HTTP/1.1\r\n">>, <<"CONNECT h:80 HTTP/1.1\r\n">>, <<"junk junk\r\n">>, a, "list", <<1:1>>],
    m:f(erlang, decode_packet, [Ts, Ds, [[], [{packet_size, 2}], [{line_length, 3}], bad]]),
    m:f(erlang, decode_packet, [[line], [<<"a;b\n">>, <<"abcdef">>], [[{line_delimiter, $;}], [{line_length, 2}], [{line_delimiter, 300}], [{line_delimiter, a}], [{packet_size, 1 bsl 30}], [{packet_size, -1}], [{bad, 1}]]]).
