%% URIs: parsing, composing, normalising, resolving, quoting, of strings and binaries.
-module(lib_uri).
-export([main/0]).
main() ->
    Us = ["http://u:p@h.org:80/a/b?x=1&y#frag", "//h/p", "/a/./b/../c", "mailto:a@b.c", "urn:x:y", "", "?q", "#f", "http://[::1]:8/x", "http://h:/x", "HTTP://EX.org/%7euser/%2F", "a b", "http://h/é", <<"ftp://x/y;t=a">>, "http://1.2.3.4.5/", "foo://h:99999999", ":x", "http://%zz"],
    m:fs(uri_string, [parse, normalize], [Us]),
    m:f(uri_string, resolve, [["../g", "g;x", "?y", "#s", "//x/y", "g:h", "./../..", ""], ["http://a/b/c/d;p?q", "/a/b", <<"http://h/">>]]),
    m:f(uri_string, recompose, [[#{path => "/p"}, #{scheme => "s", host => "h", path => "", port => 8, query => "q", fragment => "f", userinfo => "u"}, #{host => "h", path => "rel"}, #{}, #{path => <<"x">>, scheme => <<"y">>}, #{path => "//x"}, a]]),
    m:fs(uri_string, [quote, unquote, percent_decode, dissect_query], [["a b&c=d/é", "%41%zz", "x%20y+z", <<"k=v&k2&k3=">>, "", "a=%E4", 5]]),
    m:f(uri_string, compose_query, [[[{"a b", "c&d"}, {"x", true}], [], [{<<"k">>, <<"é"/utf8>>}], [{"k", 5}], [bad]]]),
    t:p(uri_string:compose_query([{"ä", "漢"}], [{encoding, latin1}])),
    t:p(uri_string:compose_query([{"a", "1"}, {"b", "2"}], [{separator, semicolon}])),
    t:p(uri_string:quote("a/b c", "/")),
    t:p(lists:sort(uri_string:allowed_characters()) =/= x),
    t:p(uri_string:transcode("%C3%B6", [{in_encoding, utf8}, {out_encoding, latin1}]) =/= x),
    t:p(uri_string:normalize("http://H:80/./a", [return_map])).
