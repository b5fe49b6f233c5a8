%% A start knows which modules of OTP's it will load; one of that name in front of them is loaded all the same.
-module(start_own_module).
-export([main/0]).

main() ->
    Text = ["-module(gb_trees).", "-export([empty/0, whose/0]).", "empty() -> {0, nil}.", "whose() -> mine."],
    {ok, gb_trees, Code} = compile:forms([form(F) || F <- Text]),
    t:p({otps, ask("")}),
    ok = file:write_file("gb_trees.beam", Code),
    t:p({in_front, ask("-pa .")}),
    %% Not a file of a module.
    ok = file:write_file("gb_trees.beam", binary:part(Code, 0, byte_size(Code) - 8)),
    t:p({damaged, ask("-pa .")}).

form(Text) ->
    {ok, Tokens, _} = erl_scan:string(Text),
    {ok, Form} = erl_parse:parse_form(Tokens),
    Form.

%% What another machine of this kind says.
ask(Flags) ->
    {ok, [[Program]]} = init:get_argument(progname),
    Ask = "io:format(\"~w\", [catch gb_trees:whose()]), halt().",
    Said = os:cmd(Program ++ " " ++ Flags ++ " -kernel logger_level none -noshell -eval '" ++ Ask ++ "'"),
    case string:find(Said, "undef") of
        nomatch -> Said;
        _ -> undef
    end.
