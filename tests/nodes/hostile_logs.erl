%% What a node logs of a peer that sends what no node sends.
-module(hostile_logs).
-export([main/0, log/2]).

main() ->
    N = two:other(),
    ok = rpc:call(N, logger, add_handler, [?MODULE, ?MODULE, #{config => self()}]),
    ok = rpc:call(N, logger, set_primary_config, [level, all]),
    [show(N, Case) || Case <- hostile:cases() ++ cases(), not lists:member(element(1, Case), left_out())],
    ok = rpc:call(N, logger, remove_handler, [?MODULE]).

%% Compressed bytes depend on the library, and the end of a process comes when it comes.
left_out() -> [half_a_packet, many, compressed, spawn_undefined].

%% The handler, on the other node.
log(#{meta := #{error_logger := #{emulator := true}}} = Event, #{config := To}) -> To ! {event, Event};
log(_, _) -> ok.

show(N, {Name, Packets}) ->
    Outcome = hostile:outcome_of(N, Name, Packets),
    [_, Host] = string:split(atom_to_list(N), "@"),
    Names = lists:append([[{F, Short}, {encoded(F), Short}]
        || {F, Short} <- [{atom_to_list(N), "THEM"}, {"fake_" ++ atom_to_list(Name) ++ "@" ++ Host, "ME"}]]),
    io:format("~p: ~p~n", [Name, Outcome]),
    [io:format("    ~p ~p ~p ~p ~ts~n", [Level, Tag, lists:sort(maps:keys(Meta)), F, text(io_lib:format(F, A), Names)])
     || #{level := Level, msg := {F, A}, meta := #{error_logger := #{tag := Tag}} = Meta} <- events(N, Outcome)].

%% OTP ends the connection before it logs.
events(N, open) -> marked(N);
events(N, closed) -> events_of_end(N, 50).
events_of_end(N, Tries) ->
    case marked(N) of
        [] when Tries > 0 -> timer:sleep(20), events_of_end(N, Tries - 1);
        [] -> [];
        Events -> timer:sleep(20), Events ++ marked(N)
    end.

%% What was logged before a message of ours, which takes the same way.
marked(N) ->
    Mark = #{error_logger => #{emulator => true, tag => mark}, time => erlang:system_time(microsecond)},
    Logger = rpc:call(N, erlang, system_info, [system_logger]),
    rpc:call(N, erlang, send, [Logger, {log, error, "mark", [], Mark}]),
    before_mark().
before_mark() ->
    receive
        {event, #{meta := #{error_logger := #{tag := mark}}}} -> [];
        {event, E} -> [E | before_mark()]
    after 30000 -> exit(no_mark)
    end.

%% How an atom's name is shown among bytes.
encoded(Name) -> lists:flatten(lists:join(",", [integer_to_list(B) || B <- [length(Name) | Name]])).
%% Numbers of channels, processes and starts differ from run to run.
text(Text, Names) ->
    T = lists:foldl(fun({Name, Short}, T) -> string:replace(T, Name, Short, all) end, unicode:characters_to_list(Text), Names),
    lists:foldl(fun({Re, To}, S) -> re:replace(S, Re, To, [global, unicode, {return, list}]) end,
                unicode:characters_to_list(T),
                [{"channel \\d+", "channel N"}, {"#Ref<\\d+\\.", "#Ref<N."}, {"<\\d+\\.(\\d+\\.\\d+)>", "<N.\\1>"}, {"(ME,(0,0,0,\\d+,){2})\\d+,\\d+,\\d+,\\d+", "\\1CREATION"}, {"\n", "|"}]).

%% More than those of `hostile`: what is shown of the terms and bytes.
cases() -> [
    {empty_after_header, [fun(_) -> <<112, 131>> end]},
    {hdr_nothing_behind, [fun(_) -> hostile:hdr([0], []) end]},
    {hdr_payload_missing, [fun(E) -> hostile:hdr([0], [hd(hostile:send(E, hostile:t(rex)))]) end]},
    {hdr_payload_bad, [fun(E) -> hostile:hdr([0], hostile:send(E, hostile:t(rex), <<104, 9>>)) end]},
    {payload_missing, [fun(E) -> hostile:signal([6, hostile:pid(E, 1), hostile:t(''), hostile:t(rex)]) end]},
    {payload_to_nobody, [fun(E) -> [hostile:signal([6, hostile:pid(E, 1), hostile:t(''), hostile:t(nobody)]), <<131, 104, 9>>] end]},
    {payload_bad_atom, [fun(E) -> [hostile:signal([6, hostile:pid(E, 1), hostile:t(''), hostile:t(rex)]), <<131, 119, 2, 16#C0, 16#80>>] end]},
    {exit_payload_bad, [fun(E) -> [hostile:signal([24, hostile:pid(E, 1), hostile:theirs(E, 30000)]), <<131, 104, 9>>] end]},
    {exit2_payload_bad, [fun(E) -> [hostile:signal([26, hostile:pid(E, 1), hostile:theirs(E, 1)]), <<131, 104, 9>>] end]},
    {hdr_atoms_shown, [fun(_) -> hostile:hdr([<<2, 8, 8, 7, 3, "one", 9, 4, "t wo">>], [<<104, 9>>]) end]},
    {hdr_atoms_shown_payload, [fun(E) -> hostile:hdr([<<2, 16#88, 0, 7, 3, "rex", 9, 4, "t wo">>], hostile:send(E, <<82, 0>>, <<104, 9>>)) end]},
    {hdr_frag_bad_payload, [fun(E) -> hostile:frag(69, 5, 2, [0 | hostile:send(E, hostile:t(rex), <<109, 4:32, 1, 2>>)]) end,
                            fun(_) -> hostile:frag(70, 5, 1, <<3>>) end]},
    {hdr_frag_bad_control, [fun(_) -> hostile:frag(69, 5, 2, [0, <<104, 9>>]) end]},
    {hdr_frag_no_tuple, [fun(_) -> hostile:frag(69, 5, 1, [0, hostile:t(hej)]) end]},
    {hdr_frag_zero, [fun(E) -> hostile:frag(69, 0, 1, [0 | hostile:send(E, hostile:t(rex))]) end]},
    {cont_without_header, [fun(_) -> hostile:frag(70, 5, 0, []) end]},
    {pass_then_68, [fun(_) -> <<112, 131, 68, 0, 97>> end]},
    {pass_then_70, [fun(_) -> <<112, 131, 70, 0, 97>> end]},
    {other_first_byte, [fun(_) -> <<113, 131, 104, 1, 97, 7>> end]},
    {hdr_pass_through, [fun(_) -> <<112, 131, 104, 1, 97, 7>> end]},
    {long_term, [fun(_) -> [112, 131, hostile:t({99, lists:seq(1, 300)})] end]},
    {text_term, [fun(_) -> [112, 131, hostile:t({99, "a text", <<"bytes">>, 1.5, #{a => [b | c]}, 'Q a'})] end]},
    {deep_term, [fun(_) -> [112, 131, hostile:t({99, lists:foldl(fun(_, A) -> {A, [A]} end, x, lists:seq(1, 9))})] end]},
    {fun_term, [fun(_) -> [112, 131, hostile:t({99, fun erlang:abs/1, <<1:3>>, -1.0e30, 1 bsl 70, []})] end]},
    {pids_shown, [fun(E) -> hostile:signal([99, hostile:pid(E, 1), hostile:theirs(E, 7), hostile:ref(E), hostile:pid(<<"x@y">>, 3)]) end]},
    {token_missing, [fun(_) -> hostile:signal([12, hostile:t('')]) end]},
    {token_no_tuple, [fun(E) -> [hostile:signal([16, hostile:pid(E, 1), hostile:t(''), hostile:t(nobody), hostile:t(x)]), <<131, 97, 1>>] end]}
].
