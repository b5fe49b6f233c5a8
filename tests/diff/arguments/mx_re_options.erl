%% re:run and re:compile with each option.
-module(mx_re_options).
-export([main/0]).
main() ->
    Os = [[], [caseless], [anchored], [global], [notbol], [noteol], [notempty], [notempty_atstart], [{capture, all}], [{capture, none}], [{capture, first}], [{capture, [0]}], [{capture, [1], list}], [{capture, [a], list}], [{capture, all, binary}], [{capture, all_names, list}], [{capture, all_but_first, index}], [multiline], [dotall], [extended], [firstline], [ungreedy], [no_auto_capture], [dupnames], [dollar_endonly], [unicode], [ucp], [{newline, cr}], [{newline, any}], [{newline, bad}], [bsr_anycrlf], [bsr_unicode], [no_start_optimize], [never_utf], [{match_limit, 100000}], [{match_limit_recursion, 100000}], [report_errors], [report_errors, {match_limit, 100000}], [bad], bad, [{capture, bad}], [{capture, [0], bad}], [{offset, a}], [global | x]],
    m:f(re, run, [["abcABC", "", "b\nc", <<"xay">>, [98, 233], a], ["(?<a>b)(c)?", ".$", "^c", "a*", "B C"], Os]),
    m:f(re, run, [["abc"], ["b", "(", "[", "a**", "(?<1>x)", "\\", "(?P<n>a)(?P<n>b)", [16#6F22], a, {re_pattern, 1}, <<"b">>, ["a", <<"b">>]], [[], [unicode], [dupnames]]]).
