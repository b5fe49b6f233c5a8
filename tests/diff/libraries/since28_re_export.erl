%% since 28
%% Compiled patterns are references, can be exported and imported, and have PCRE2's options.
-module(since28_re_export).
-export([main/0]).

main() ->
    forms(),
    imports(),
    bad_imports(),
    options(),
    errors().

forms() ->
    [begin
         {ok, Mp} = re:compile(Re, Options),
         t:p({compiled, setelement(5, Mp, is_reference(element(5, Mp)))}),
         {ok, {Tag, Header, Source, Kept, Code}} = re:compile(Re, [export | Options]),
         <<Title:8/binary, Sum:32, Version, Unicode, Rest/binary>> = Header,
         t:p({Tag, Title, Sum =:= erlang:crc32(Code), Version, Unicode, Rest, Source, Kept, is_binary(Code)})
     end || {Re, Options} <- patterns()].

patterns() ->
    [{"a(b)?", []}, {<<"a(?<x>b)?c*">>, [caseless, dotall]}, {[<<"x">>, "y" | <<"z">>], [{newline, any}]},
     {<<"\x{e9}+"/utf8>>, [unicode]}, {[16#e9, 16#20ac, $+], [unicode, ucp]}, {"", [{newline, crlf}]},
     {"^(.)(.)?$", [multiline, {newline, anycrlf}, bsr_anycrlf]}].

imports() ->
    Subjects = ["", "ab", "xABCCy", "xyz", <<"\x{e9}\x{e9}"/utf8>>, [16#e9, 16#20ac, 16#20ac], "ab\r\ncd"],
    [begin
         {ok, Exported} = re:compile(Re, [export | Options]),
         Mp = re:import(binary_to_term(term_to_binary(Exported))),
         t:p({imported, setelement(5, Mp, is_reference(element(5, Mp))), re:inspect(Mp, namelist)}),
         [t:pc({Re, S}, fun() -> {re:run(S, Mp), re:run(S, Mp, [global, {capture, all, list}]), re:split(S, Mp)} end)
          || S <- Subjects]
     end || {Re, Options} <- patterns()].

bad_imports() ->
    {ok, {Tag, <<Title:8/binary, Sum:32, V, U>> = Header, Source, Options, Code} = E} = re:compile("a(b)?", [export]),
    Same = fun(X) -> re:run("xab", re:import(X)) end,
    Run = fun(Label, X) -> t:pc(Label, fun() -> Same(X) end) end,
    Run(same, E),
    Run(longer_header, setelement(2, E, <<Header/binary, "more">>)),
    Run(shorter_header, setelement(2, E, binary:part(Header, 0, 13))),
    Run(no_header, setelement(2, E, <<>>)),
    Run(other_title, setelement(2, E, <<"re-PCRE3", Sum:32, V, U>>)),
    Run(other_sum, setelement(2, E, <<Title/binary, (Sum bxor 1):32, V, U>>)),
    Run(other_version, {Tag, <<Title/binary, 0:32, 2, U>>, Source, Options, <<>>}),
    Run(other_version_no_code, {Tag, <<Title/binary, 0:32, 2, U>>, Source, Options, not_there}),
    Run(bad_source, {Tag, <<Title/binary, 0:32, 2, U>>, <<"(">>, Options, <<>>}),
    Run(no_source, {Tag, <<Title/binary, 0:32, 2, U>>, 1, Options, <<>>}),
    Run(other_code, setelement(5, E, <<Code/binary, 0>>)),
    Run(no_code, setelement(5, E, x)),
    Run(other_tag, setelement(1, E, re_pattern)),
    [Run(no_pattern, X) || X <- [x, {}, {Tag}, "ab", {Tag, Header, Source, Options}]],
    t:pc(run_exported, fun() -> re:run("ab", E) end),
    {ok, Mp} = re:compile("a"),
    t:pc(import_compiled, fun() -> re:import(Mp) end),
    t:pc(no_reference, fun() -> re:run("a", setelement(5, Mp, make_ref())) end),
    t:pc(binary_for_it, fun() -> re:run("a", setelement(5, Mp, <<"a">>)) end).

options() ->
    t:pc(fun() -> re:compile("a", [export, global]) end),
    t:pc(fun() -> re:run("a", "a", [export]) end),
    t:pc(fun() -> re:run("a\0b", "^b", [multiline, {newline, nul}]) end),
    t:pc(fun() -> re:run("a\0b", "^b", [multiline]) end),
    {ok, Any} = re:compile("^b\\R", [multiline, {newline, any}, bsr_unicode]),
    [t:pc({at_run, O}, fun() -> re:run("a\rb\n", Any, O) end)
     || O <- [[], [{newline, any}], [{newline, lf}], [bsr_unicode], [bsr_anycrlf], [{newline, any}, bsr_unicode]]],
    {ok, Plain} = re:compile("a"),
    [t:pc({plain, O}, fun() -> re:run("a", Plain, O) end) || O <- [[{newline, lf}], [{newline, cr}], [bsr_unicode]]].

errors() ->
    %% PCRE2's next release says other offsets.
    [t:pc(Re, fun() -> case re:compile(Re) of {error, {Text, _}} -> Text; {ok, _} -> compiled end end)
     || Re <- ["(", ")", "[", "*", "(?<a>.)(?<a>.)", "(?<=a+)b", "(?<=a{1,3})b", "\\p{Nothing}", "(?(9)a)", "\\x{110000}", "\\c\351",
               "(?z)", "a{2,1}", "[z-a]", "[[:nothing:]]", "(?<1>x)", "\\8", "\\N{U+41}", "(?C256)", "\\k<x>", "(?P<x", "(?1)", "[\\d-z]", "\\x", "\\i"]],
    Deep = fun(N) -> re:compile([lists:duplicate(N, $(), lists:duplicate(N, $))]) end,
    [t:p({N, element(1, Deep(N))}) || N <- [250, 798, 1500, 11000]],
    [t:pc({latin1, O}, fun() -> re:run("\351\311 x", "\\w+", O) end) || O <- [[], [caseless], [unicode], [unicode, ucp], [ucp]]],
    t:pc(fun() -> re:run("\351", "\311", [caseless]) end),
    t:pc(fun() -> re:run("aaab", "(?<=a{1,3})b") end),
    t:pc(fun() -> re:run("aaaa", "^(a\\1?){4}$") end).
