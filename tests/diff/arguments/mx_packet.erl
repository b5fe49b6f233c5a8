%% decode_packet with each type and its options.
-module(mx_packet).
-export([main/0]).
main() ->
    Ts = [raw, 0, 1, 2, 4, asn1, cdr, sunrm, fcgi, tpkt, line, http, http_bin, httph, httph_bin, ssl_tls, bad, 3],
    Bs = [<<>>, <<1>>, <<0, 0, 0, 2, "abc">>, <<2, "abc">>, <<0, 2, "abc">>, <<"line\nmore">>, <<"GET / HTTP/1.1\r\n">>, <<"HTTP/1.0 200 OK\r\nX">>, <<"Host: x\r\nA">>, <<"\r\n">>, <<3, 0, 0, 5, 9>>, <<22, 3, 1, 0, 1, 7>>, <<48, 1, 5>>, <<128, 0, 0, 1, 9>>, <<1, 0, 0, 0, 0, 1, 0, 0, 7>>, a, <<1:1>>],
    m:f(erlang, decode_packet, [Ts, Bs, [[], [{packet_size, 2}], [{line_length, 3}], [{line_delimiter, $e}], [bad], bad, [{packet_size, -1}]]]).
