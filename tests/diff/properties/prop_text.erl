%% Random strings through string, unicode, re, io_lib and base64.
-module(prop_text).
-export([main/0]).
main() ->
    g:seed(7),
    g:digest("string", g:times(400, fun(_) -> string_ops(g:string(20), g:string(1)) end)),
    g:digest("unicode", g:times(1000, fun(_) -> unicode_ops(g:string(20), g:bin(12)) end)),
    g:digest("format", g:times(800, fun(_) -> format(g:term(2)) end)),
    g:digest("pretty", g:times(300, fun(_) -> T = g:term(3), unicode:characters_to_binary(io_lib:format("~tp~n~20tp~n~p", [T, T, T])) end)),
    g:digest("scan", g:times(400, fun(_) -> scan(g:term(2)) end)),
    g:digest("re", g:times(400, fun(_) -> re_ops(g:string(30)) end)),
    g:digest("base64", g:times(500, fun(_) -> B = g:bin(40), E = base64:encode(B), B = base64:decode(E), {E, binary:encode_hex(B)} end)).

string_ops(S, D) ->
    B = unicode:characters_to_binary(S),
    [string:length(S), string:reverse(S), string:uppercase(B), string:lowercase(S), string:trim(S), string:trim(B, trailing, "a "), string:titlecase(S),
     string:split(S, ","), string:lexemes(B, ", ;"), string:slice(B, g:int(4), g:int(9)), string:pad(S, 25, both, $*), string:find(B, "b"),
     string:replace(S, "a", "<>", all), string:to_graphemes(B), string:casefold(S), string:equal(S, string:uppercase(S), true), string:prefix(S, D),
     string:to_integer(S), string:nth_lexeme(S ++ " x", 1, " "), string:is_empty(S)].

unicode_ops(S, B) ->
    [unicode:characters_to_binary(S), unicode:characters_to_list(B), unicode:characters_to_binary(S, utf8, {utf16, little}), unicode:characters_to_nfd_binary(S),
     unicode:characters_to_list(B, latin1), unicode:characters_to_binary([B | S], latin1, utf8), unicode:characters_to_nfkc_list(S),
     unicode:characters_to_list(B, utf16), unicode:characters_to_binary(S, unicode, latin1), unicode:bom_to_encoding(B)].

format(T) ->
    [unicode:characters_to_binary(io_lib:format(F, [T])) || F <- ["~w", "~tw", "~p", "~tp", "~0p", "~10p"]] ++
        [lists:flatten(io_lib:format("~P|~W", [T, 6, T, 5])), io_lib:write(T, 4), lists:flatten(io_lib:print(T))].

%% Text of a term, read back, is the term.
scan(T) ->
    Text = lists:flatten(io_lib:format("~tw.", [T])),
    {ok, Tokens, _} = erl_scan:string(Text),
    case erl_parse:parse_term(Tokens) of
        {ok, T1} -> true = T1 =:= T, length(Tokens);
        {error, _} -> {unreadable, Text}
    end.

re_ops(S) ->
    [re:run(S, "([a-c]+)[^a-z]*(\\d*)", [unicode, {capture, all, list}]), re:run(S, "\\p{L}{2,}", [unicode, global]), re:split(S, "[ ,;]+", [unicode, {return, list}]),
     re:replace(S, "(.)\\1", "<&>", [unicode, global, {return, binary}]), re:run(S, "^.*?z", [unicode, caseless, dotall])].
