%% Patterns that OTP's PCRE 8 compiled, as modules keep them in their literals. OTP 25 wrote them,
%% and they run on each release that has PCRE 8. Since OTP 28 such a binary is no compiled pattern.
-module(re_stored_blocks).
-export([main/0]).

main() ->
    lists:foreach(fun run/1, patterns()),
    more().

run({Groups, Unicode, Crlf, Base64, Subjects}) ->
    Pattern = {re_pattern, Groups, Unicode, Crlf, base64:decode(Base64)},
    Results = [t:c(fun() -> re:run(S, Pattern, Options) end) ||
                  S <- Subjects, Options <- [[], [notbol, {offset, byte_size(S) div 2}]]],
    Names = t:c(fun() -> re:inspect(Pattern, namelist) end),
    t:p({Groups, Names, Results}).

%% What is built on a run, options of a run that change a pattern, and what is no pattern.
more() ->
    [{_, _, _, Base64, _}, {_, _, _, Lines, _} | _] = patterns(),
    Block = base64:decode(Base64),
    Words = {re_pattern, 2, 0, 0, Block},
    t:pc(fun() -> re:split("one two  three", Words) end),
    t:pc(fun() -> re:split("one two  three", Words, [group, {return, list}]) end),
    t:pc(fun() -> re:replace("one two  three", Words, "<\\2\\1>", [global, {return, binary}]) end),
    t:pc(fun() -> re:run("one two", Words, [global, {capture, [rest, first], list}]) end),
    t:pc(fun() -> re:run("one two", Words, [{capture, all_names, binary}]) end),
    End = {re_pattern, 0, 0, 0, base64:decode(Lines)},
    [t:pc(N, fun() -> re:run(<<"a\r\nb\nc\rd">>, End, [global, {newline, N}]) end) ||
        N <- [lf, cr, crlf, any, anycrlf]],
    <<_:4/binary, Rest/binary>> = Block,
    t:pc(fun() -> re:run("one", {re_pattern, 2, 0, 0, <<"PCRE", Rest/binary>>}) end).

patterns() ->
    [
     %% (?<first>\w)(?<rest>\w+)
     {2, 0, 0,
      <<"RVJDUGoAAAAAAAAAAQAAAP//////////AAAAAAAAAgAAAEAACAACAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAABZmlyc3QAAAJyZXN0AACDABaFAAYAAQt4AAaFAAcAAl8LeAAHeAAWAA==">>,
      [<<"one two">>,
       <<"x">>]},
     %% ^\w$   [multiline]
     {0, 0, 0,
      <<"RVJDUEoAAAACAAAAAQEAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMABhwLGngABgA=">>,
      [<<"a\r\nb\nc">>]},
     %% a+?b*c{2,5}d{3}e{2,}+f?+g??h*+
     {0, 0, 0,
      <<"RVJDUGMAAAAAAAAAUQAAAP//////////YQBlAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAHythKmIpAAJjLQADYykAA2QpAAJlKmUsZiZnKmh4AB8A">>,
      [<<"aabccdddeeefgh">>,
       <<"accddde">>]},
     %% A+?b*C{2,5}[^D]{3}e{2,}+[^f]?+g??h*+[^i]*?[^j]+   [caseless]
     {0, 0, 0,
      <<"RVJDUGcAAAABAAAA8QAAAP//////////QQBlAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAIzhBN2I2AAJDNAADQ1AAA0Q2AAJlN2VTZjNnN2hJaVJqeAAjAA==">>,
      [<<"aabccxyzeeefgh">>,
       <<"accdddeeq">>]},
     %% \d+\D*?\s{2,}\S?\w++\W{1,3}?.{2}$
     {0, 0, 0,
      <<"RVJDUF8AAAAAAAAAAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAG18HVgZdAAIJXglZCF8LClwAAgpdAAIMGXgAGwA=">>,
      [<<"12ab  x__--ab">>,
       <<"1  x__-ab\n">>]},
     %% \A\h\H\v\V\R\N\X\Z
     {0, 0, 0,
      <<"RVJDUFAAAAAQAAAAAQAAAP//////////AAAAAAEAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMADAETEhUUEQwWF3gADAA=">>,
      [<<"\t \n \r\nxy">>,
       <<"\t \n \r\nxy\n">>]},
     %% \Ga\K.\b(?s:.)\z   [dollar_endonly]
     {0, 0, 0,
      <<"RVJDUFUAAAAwAAAAAQAAAP//////////AAAAAAEAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAEQIdYQMMBYMABA14AAQYeAARAA==">>,
      [<<"abc">>,
       <<"ab">>]},
     %% [a-c\d]+[^x\s]*?[[:punct:]]{2,3}+[\n]?
     {0, 0, 0,
      <<"RVJDULMAAAAAAAAAAQgAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAb24AAAAAAAD/AwAAAAAOAAAAAAAAAAAAAAAAAAAAAAAAAGRv/8H///7/////////"
        "/////v////////////////////9jbgAAAAD+/wD8AQAA+AEAAHgAAAAA//vf+wAAgAAAAIAAbQAC"
        "AAMsCngAbwA=">>,
      [<<"abc12!!,\n">>,
       <<"1y??">>]},
     %% [^\s\S]|[\s\S]x|(?i:[k-m]z)
     {0, 0, 0,
      <<"RVJDULoAAAAAAAAAAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAJG4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAHcAJm//////////////"
        "/////////////////////////////x14dwAsgwAmbgAAAAAAAAAAADgAAAA4AAAAAAAAAAAAAAAA"
        "AAAAAAAAHnp4ACZ4AHYA">>,
      [<<"kZ">>,
       <<"\nx">>]},
     %% (a)|(?:b|(c))+(?>d|de)(?=f)(?!g)(?<=de|d)(?<!x)f
     {2, 0, 0,
      <<"RVJDUKoAAAAAAAAAAQAAAP//////////AAAAAAIAAgAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMADYUABwABHWF4AAd3AFmDAAUdYncADYUABwACHWN4AAd5ABKCAAUdZHcABx1kHWV4"
        "AAx9AAUdZngABX4ABR1neAAFfwAKfAACHWQdZXcACHwAAR1keAASgAAIfAABHXh4AAgdZngAZgA=">>,
      [<<"a">>,
       <<"bcdf">>,
       <<"cbdef">>]},
     %% (?:(a){2,4}(b)?(?:c){0,3}?(d){3}){2}
     {3, 0, 0,
      <<"RVJDUFMBAAAAAAAAUQAAAP//////////YQBkAAAAAwAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMBD4MAg4UABwABHWF4AAeFAAcAAR1heAAHkoMAGIUABwABHWF4AAeShQAHAAEdYXgA"
        "B3gAGJKFAAcAAh1ieAAHk4MAI4MABR1jeAAFk4MAFIMABR1jeAAFk4MABR1jeAAFeAAUeAAjhQAH"
        "AAMdZHgAB4UABwADHWR4AAeFAAcAAx1keAAHeACDgwCDhQAHAAEdYXgAB4UABwABHWF4AAeSgwAY"
        "hQAHAAEdYXgAB5KFAAcAAR1heAAHeAAYkoUABwACHWJ4AAeTgwAjgwAFHWN4AAWTgwAUgwAFHWN4"
        "AAWTgwAFHWN4AAV4ABR4ACOFAAcAAx1keAAHhQAHAAMdZHgAB4UABwADHWR4AAd4AIN4AQ8A">>,
      [<<"aaabcdddaaddd">>,
       <<"aaddd">>]},
     %% (?:(ab)*|c)+(d)++(e|f?)*+(?:g){3,}
     {3, 0, 0,
      <<"RVJDUJEAAAAAAAAAQQAAAP//////////AABnAAAAAwAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMATYgAEJKFAAkAAR1hHWJ5AAl3AAUdY3kAFYYABwACHWR7AAeUiwAHAAMdZXcABSxm"
        "ewAMgwAFHWd4AAWDAAUdZ3gABYMABR1neQAFeABNAA==">>,
      [<<"ababcddefggg">>,
       <<"dggg">>]},
     %% (?>(a+)b){2,}+c|(x\2?){3}y
     {2, 0, 0,
      <<"RVJDULQAAAAAAAAAAQAAAP//////////AAAAAAAAAgACAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAL4EAJ4EAD4UABwABK2F4AAcdYngAD4QAD4UABwABK2F4AAcdYnsAD3gAJx1jdwBB"
        "gQARhQALAAIdeHEAAmZ4AAt4ABGBABGFAAsAAh14cQACZngAC3gAEYEAEYUACwACHXhxAAJmeAAL"
        "eAARHXl4AHAA">>,
      [<<"abaabc">>,
       <<"xxxy">>]},
     %% (a)?(?(1)b|c)(?(?=d)d|e)(?(?<!x)(?:f)|y)
     {1, 0, 0,
      <<"RVJDUJUAAAAAAAAAAQAAAP//////////AAAAAAEAAQABAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAUZKFAAcAAR1heAAHhwAIjQABHWJ3AAUdY3gADYcADX0ABR1keAAFHWR3AAUdZXgA"
        "EocAFoAACHwAAR14eAAIgwAFHWZ4AAV3AAUdeXgAG3gAUQA=">>,
      [<<"abdf">>,
       <<"cef">>,
       <<"adf">>]},
     %% (?<n>a)?(?(<n>)b|c)(?(R)x|y)(?(DEFINE)(?<d>\d\d))(?&d)
     {2, 0, 0,
      <<"RVJDUKQAAAAAAAAAAQAAAP//////////AAAAAAAAAgABAEAABAACAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAACZAAAAW4AgwBCkoUABwABHWF4AAeHAAiNAAEdYncABR1jeAANhwAIj///HXh3AAUd"
        "eXgADYcADpGFAAcAAgcHeAAHeAAOdQAyeABCAHgAG3gAUQAAC3jZAAAAAAAAAAAAlio=">>,
      [<<"aby12">>,
       <<"cy34">>]},
     %% (\((?:[^()]++|(?1))*\))(?R)?
     {1, 0, 0,
      <<"RVJDUIwAAAAAAAAAEQAAAP//////////KAAAAAAAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMASIUAOAABHSiSiAAlb////////P//////////////////////////////////a3cA"
        "BnUAA3kAKx0peAA4koEABnUAAHgABngASAA=">>,
      [<<"(a(b)c)">>,
       <<"((x)(y(z)))(w)">>]},
     %% (?|(a)|(b))\1(?|x(.)y|(z)(w))\2\3?
     {3, 0, 0,
      <<"RVJDUJgAAAAAAAAAAQAAAP//////////AAAAAAAAAwADAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAVIMADYUABwABHWF4AAd3AA2FAAcAAR1ieAAHeAAacQABgwAQHXiFAAYAAgx4AAYd"
        "eXcAF4UABwACHXp4AAeFAAcAAx13eAAHeAAncQACcQADZngAVAA=">>,
      [<<"aax1y1">>,
       <<"bbzwww">>]},
     %% (?:(?<x>a)|(?<x>b))\k<x>(?(<x>)c)   [dupnames]
     {2, 0, 0,
      <<"RVJDUIoAAAAAAAgAAQAAAP//////////AAAAAAAAAgACAEAABAACAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAABeAAAAngAgwAygwANhQAHAAEdYXgAB3cADYUABwACHWJ4AAd4ABpzAAAAAocACo4A"
        "AAACHWN4AAp4ADIAAAeFAAcAAx13eAAH">>,
      [<<"aac">>,
       <<"bbc">>,
       <<"ab">>]},
     %% (?<x>a)(?<y>b)\k<x>(?i)\k<y>\1
     {2, 0, 0,
      <<"RVJDUIgAAAAAAAAAUQAAAP//////////YQBiAAAAAgACAEAABAACAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAABeAAAAnkAgwAghQAHAAEdYXgAB4UABwACHWJ4AAdxAAFyAAJyAAF4ACAAAocACo4A"
        "AAACHWN4AAp4ADIAAAeFAAcAAx13eA==">>,
      [<<"ababA">>,
       <<"abaBa">>]},
     %% a(*COMMIT)b|a(*PRUNE)c|(*MARK:m)d(*SKIP:m)e|f(*THEN)g|fh|(?:i(*ACCEPT)j)|k(*FAIL)|(?(?!)l|m)
     {0, 0, 0,
      <<"RVJDUJcAAAAAAAAAARAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMACB1hnB1idwAIHWGWHWN3AA+VAW0AHWSZAW0AHWV3AAgdZpodZ3cABx1mHWh3AA6D"
        "AAgdaZ4dangACHcABh1rnXcAEYcABp0dbHcABR1teAALeABTAA==">>,
      [<<"ac">>,
       <<"dfh">>,
       <<"i">>,
       <<"km">>]},
     %% a(?i)b(c(?-i)d)E|f(?m)^g$
     {1, 0, 0,
      <<"RVJDUGIAAAAAAAAAAQAAAP//////////AAAAAAAAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAFR1hHmKFAAkAAR5jHWR4AAkeRXcACR5mHB5nGngAHgA=">>,
      [<<"aBCdE">>,
       <<"abcDE">>,
       <<"f\ng">>]},
     %% (?(?=.*b)\w|.*c){0}x(?:y(z)){0,1}?
     {1, 0, 0,
      <<"RVJDUHUAAAAAAAAAQQAAAP//////////AAB4AAAAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAMaGHAA59AAdVDB1ieAAHC3cAB1UMHWN4ABUdeJODAA8deYUABwABHXp4AAd4AA94"
        "ADEA">>,
      [<<"xyz">>,
       <<"x">>]},
     %% ((?:a|b){2}){2,3}(?:\d{2}|x+){1,2}+
     {1, 0, 0,
      <<"RVJDUNMAAAAAAAAAAQAAAP//////////AAAAAAAAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAj4UAHwABgwAFHWF3AAUdYngACoMABR1hdwAFHWJ4AAp4AB+FAB8AAYMABR1hdwAF"
        "HWJ4AAqDAAUdYXcABR1ieAAKeAAfkoUAHwABgwAFHWF3AAUdYngACoMABR1hdwAFHWJ4AAp4AB+B"
        "ACKDAAddAAIHdwAFI3h4AAySgwAHXQACB3cABSt4eAAMeAAieACPAA==">>,
      [<<"abbaab12">>,
       <<"abba1">>]},
     %% a.c$   [dotall,{newline,crlf}]
     {0, 0, 1,
      <<"RVJDUE0AAAAEADAAUQAAAP//////////YQBjAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMACR1hDR1jGXgACQA=">>,
      [<<"a\nc">>,
       <<"axc\r\n">>]},
     %% \Ra\R?   [bsr_anycrlf]
     {0, 0, 0,
      <<"RVJDUEwAAAAAAIAAQQAAAP//////////AABhAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMACBEdYWAReAAIAA==">>,
      [<<"\va">>,
       <<13,10,97,133>>]},
     %% x{0}y|[^a]{0,2}$   [firstline,ungreedy]
     {0, 0, 0,
      <<"RVJDUFMAAAAAAgQAAYAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMABR15dwAIQgACYRl4AA0AAQA=">>,
      [<<"y">>,
       <<"aaaq">>]},
     %% a b # c   [extended,anchored]
     {0, 0, 0,
      <<"RVJDUEsAAAAYAAAAAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMABx1hHWJ4AAcA">>,
      [<<"ab">>]},
     %% (*LIMIT_MATCH=5000)(*ANYCRLF)(a|b)+$
     {1, 0, 1,
      <<"RVJDUFcAAAAAAFAAASAAAIgTAAD/////AAAAAAAAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAE4UABwABHWF3AAUdYnkADBl4ABMA">>,
      [<<"abab\r\n">>]},
     %% \x{e9}+[\x{e0}-\x{ff}]\w   [caseless]
     {0, 0, 0,
      <<"RVJDUGsAAAABAAAAMQAAAP//////////6QAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAJzDpbgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAP//f3//////C3gAJwA=">>,
      [<<201,233,246,122>>,
       <<233>>]},
     %% \x{e9}+\x{df}?[\x{e0}-\x{ff}]\x{3bb}{2,}[^\x{100}]*?\x{1f600}   [unicode]
     {0, 1, 0,
      <<"RVJDUH4AAAAACAAAUQAAAP//////////wwCAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAOiPDqSzDn24AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA/////ykAAs67Ic67"
        "PMSAHfCfmIB4ADoA">>,
      [<<195,169,195,159,195,182,206,187,206,187,120,240,159,152,128>>,
       <<195,169,195,160,206,187,206,187,240,159,152,128>>]},
     %% \x{c9}\x{3c3}K[s-t]{2}[^\x{df}]\x{416}++   [unicode,caseless]
     {0, 1, 0,
      <<"RVJDUIMAAAABCAAAAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAPx7DiRAJHhAJR3AAKAIAAAAAAAAAAAAAGAAAABgAAAAAAAAAAAAAAAAAAAAAAAHF"
        "vwBoAAIAAiDDnzjQlngAPwA=">>,
      [<<195,169,207,130,107,197,191,84,120,208,182,208,150>>,
       <<195,137,206,163,226,132,170,115,116,121,208,150>>]},
     %% [\x{100}-\x{200}\x{e9}]+[^\x{300}]?[^a]\x{10ffff}?   [unicode]
     {0, 1, 0,
      <<"RVJDUHwAAAAACAAAAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAOHAAKgIAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAIAAALEgMiAAGQ/zIAf"
        "YSz0j7+/eAA4AA==">>,
      [<<196,128,195,169,97,98>>,
       <<195,169,196,128,204,128,120>>]},
     %% \p{Lu}\P{Lu}+\p{L&}\p{Greek}?\p{Nd}{2}\p{Any}\p{Xan}*+[\p{Lu}\P{L}]   [unicode]
     {0, 1, 0,
      <<"RVJDUG0AAAAACAAAAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAKRADCVcPAwkQAQBZEAQTXQACEAMNEAAAXhAFAHAACwQDAwkEAgEAeAApAA==">>,
      [<<65,66,99,206,187,49,50,33,97,98,45>>,
       <<"Abc12x?">>]},
     %% \w+\d\b.\B\s?[\w]*[^\d\s]+[[:alpha:][:punct:]]+\W\D   [unicode,ucp]
     {0, 1, 0,
      <<"RVJDUHwAAAAACAAgAQAAAP//////////AAAAAAEAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAOFcQCAAQAw0FDARZEAYAcAAIBAMIAABicAALBQMDDQMGAABkcAALBAMCAQMNAABk"
        "DwgADwMNeAA4AA==">>,
      [<<195,169,116,195,169,49,32,217,163,120,33,63,97,45,32>>,
       <<"a1 b">>]},
     %% [[:^alpha:][:graph:]]+[^[:print:]]?[\W]?   [unicode,ucp]
     {0, 1, 0,
      <<"RVJDUGUAAAAACAAgAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAIXAACwQEAgEDCwAAZHAACAUDDAAAZnAACAQECAAAbHgAIQA=">>,
      [<<195,169,49,32,226,128,139>>,
       <<"-">>]},
     %% \p{L}\w+[\p{Nd}x]   [ucp]
     {0, 0, 0,
      <<"RVJDUHYAAAAAAAAgAQAAAP//////////AAAAAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAMhACAVcQCABwACgGAAAAAAAAAAAAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAAADAw0A"
        "eAAyAA==">>,
      [<<"ab1">>,
       <<"a_x">>]},
     %% ^(?:([a-z0-9+.-]+):)?(?://([^/?#]*))?([^?#]*)(\?[^#]*)?(#.*)?$
     {5, 0, 0,
      <<"RVJDUPUAAAAQAAAAAYAAAP//////////AAAAAAAABQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAsRuSgwAvhQAnAAFuAAAAAABo/wMAAAAA/v//BwAAAAAAAAAAAAAAAAAAAABreAAn"
        "HTp4AC+SgwAxHS8dL4UAJwACb//////3f/9/////////////////////////////////YngAJ3gA"
        "MYUAJwADb//////3//9/////////////////////////////////YngAJ5KFAAkABB0/OyN4AAmS"
        "hQAJAAUdI1UMeAAJGXgAsQA=">>,
      [<<"https://u@h.org:80/p/a?q=1#f">>,
       <<"/only">>]},
     %% (?<major>0|[1-9]\d*)\.(?<minor>0|[1-9]\d*)(?:-(?<pre>(?:[0-9A-Za-z-]+\.?)+))?
     {3, 0, 0,
      <<"RVJDUPwAAAAAAAAAQQAAAP//////////AAAuAAAAAwAAAEAACAADAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAAABbWFqb3IAAAJtaW5vcgAAA3ByZQAAAIMAoIUABwABHTB3ACZuAAAAAAAA/gMAAAAA"
        "AAAAAAAAAAAAAAAAAAAAAAAAAABeB3gALR0uhQAHAAIdMHcAJm4AAAAAAAD+AwAAAAAAAAAAAAAA"
        "AAAAAAAAAAAAAAAAAF4HeAAtkoMANx0thQAvAAODACduAAAAAAAg/wP+//8H/v//BwAAAAAAAAAA"
        "AAAAAAAAAABkJS55ACd4AC94ADd4AKAA">>,
      [<<"v1.20-rc.1">>,
       <<"x">>]},
     %% \$(?:([a-z]+)|level)|[^$]+
     {1, 0, 0,
      <<"RVJDUIsAAAAAAAAAAQAAAP//////////AAAAAAAAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAQh0kgwAthQAnAAFuAAAAAAAAAAAAAAAA/v//BwAAAAAAAAAAAAAAAAAAAABreAAn"
        "dwANHWwdZR12HWUdbHgAOncABUUkeABHAA==">>,
      [<<"$time $level">>]},
     %% (?<=\d{3}|^)(?:(?:a)?(b){1,2}){0,2}(?!\d)c
     {1, 0, 0,
      <<"RVJDULQAAAAAAAAAQQAAAP//////////AABjAAMAAQAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAcH8ACnwAA10AAwd3AAd8AAAbeAARkoMATIMAIZKDAAUdYXgABYUABwABHWJ4AAeS"
        "hQAHAAEdYngAB3gAIZKDACGSgwAFHWF4AAWFAAcAAR1ieAAHkoUABwABHWJ4AAd4ACF4AEx+AAQH"
        "eAAEHWN4AHAA">>,
      [<<"123abbc">>,
       <<"bc">>,
       <<"9c">>]},
     %% a\Cb
     {0, 0, 0,
      <<"RVJDUEwAAAAAAAAAUQAAAP//////////YQBiAAAAAAAAAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMACB1hDR1ieAAIAA==">>,
      [<<97,233,98>>]},
     %% (?=(a+))a*b\1|(?:(?=a)a|b){2,}?c
     {1, 0, 0,
      <<"RVJDUI0AAAAAAAAAAQAAAP//////////AAAAAAAAAQABAEAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
        "AAAAAAAAAIMAGn0ADYUABwABK2F4AAd4AA0qYR1icQABdwAvgwANfQAFHWF4AAUdYXcABR1ieAAS"
        "gwANfQAFHWF4AAUdYXcABR1iegASHWN4AEkA">>,
      [<<"aaab">>,
       <<"abac">>]}].

