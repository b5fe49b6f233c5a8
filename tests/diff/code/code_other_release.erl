%% Files of a later or a much earlier release, and damaged ones: what code answers, and what the log says.
-module(code_other_release).
-export([main/0, log/2]).
main() ->
    ok = logger:set_primary_config(level, error), ok = logger:add_handler(h, ?MODULE, #{config => #{to => self()}}), ok = logger:remove_handler(default),
    {ok, other, B} = compile:forms([{attribute, 1, module, other}, {attribute, 2, export, [{f, 0}]},
        {function, 3, f, 0, [{clause, 3, [], [], [{tuple, 3, [{atom, 3, a}, {string, 3, "b"}]}]}]}], [binary]),
    {ok, other, Cs} = beam_lib:all_chunks(B),
    try_file("as it is", Cs),
    [try_file({opcode, O}, with("Code", Cs, fun(<<N:32, V:32, _:32, R/binary>>) -> <<N:32, V:32, O:32, R/binary>> end))
        || O <- [0, 20, 150, 168, 169, 1000, 16#ffffffff]],
    try_file(no_atoms, lists:keydelete("AtU8", 1, Cs)),
    try_file(latin1_atoms, lists:keyreplace("AtU8", 1, Cs, {"Atom", element(2, lists:keyfind("AtU8", 1, Cs))})),
    [try_file({without, Id}, lists:keydelete(Id, 1, Cs)) || Id <- ["Code", "ExpT", "ImpT"]],
    [try_file({cut, Id}, with(Id, Cs, fun(<<X:2/binary, _/binary>>) -> X end)) || Id <- ["AtU8", "Code", "ExpT", "ImpT"]],
    [try_file({bad, Id}, lists:keystore(Id, 1, Cs, {Id, <<255, 255>>})) || Id <- ["FunT", "Line", "LitT"]],
    {ok, File} = beam_lib:build_module(Cs),
    said(other_name, code:load_binary(another, "another.beam", File)),
    said(no_file, code:load_binary(other, "other.beam", <<"junk">>)),
    said(cut_file, code:load_binary(other, "other.beam", binary:part(File, 0, byte_size(File) - 20))),
    said(load_module, erlang:load_module(other, <<"junk">>)),
    t:p(erlang:module_loaded(other)).
with(Id, Cs, F) -> lists:keymap(fun(<<C/binary>>) -> C end, 2, [case C of {Id, X} -> {Id, F(X)}; _ -> C end || C <- Cs]).
try_file(What, Cs) ->
    {ok, B} = beam_lib:build_module(Cs),
    said(What, code:load_binary(other, "other.beam", B)),
    code:purge(other), code:delete(other), code:purge(other).
%% What the machine says, and what code_server may say, come in no order.
said(What, Answer) -> timer:sleep(50), t:p(What, Answer), io:put_chars(lists:sort(flush())).
flush() -> receive {said, T} -> [T | flush()] after 0 -> [] end.
%% OTP names a line of its source.
log(Event, #{config := #{to := To}}) ->
    T = logger_formatter:format(Event, #{single_line => false, template => ["  ", level, ": ", msg, "|\n"]}),
    To ! {said, re:replace(T, "[a-z_/]+[.]c\\([0-9]+\\): ", "", [{return, list}])}.
