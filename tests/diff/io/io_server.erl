%% A group leader of one's own: the io protocol's requests, formatted output, input
%% by line, term and characters, errors, a process that ends in the middle.
-module(io_server).
-export([main/0]).
main() ->
    Old = group_leader(), Io = spawn_link(fun() -> loop("line one\n{a, [1,2]}. second 42 rest\nlast", []) end), group_leader(Io, self()),
    io:format("hello ~p~n", [world]), io:put_chars("chars"), io:nl(), io:write({a, "b"}), io:fwrite(group_leader(), "x~ts", [[1025]]),
    R = [io:get_line("p1> "), io:read("p2> "), io:fread("p3> ", "~a ~d"), io:get_chars("p4> ", 5), io:get_line(""), io:get_line(""), io:get_line("")],
    R2 = [io:setopts([binary]), io:getopts(), io:columns(), io:rows(), io:request(Io, {unknown, 1}), io:request(Io, {requests, [{put_chars, unicode, "a"}, {put_chars, unicode, "b"}]})], E = t:c(fun() -> io:format("~p", []) end),
    spawn(fun() -> io:format("child ~p", [1]) end), timer:sleep(20), Io ! {take, self()}, Got = receive {taken, L} -> L end, spawn_link(fun() -> Io ! stop end), timer:sleep(10), D = t:c(fun() -> io:put_chars("too late") end), group_leader(Old, self()), t:p(Got), t:p(R), t:p(R2), t:p(E), t:p(D), t:pc(fun() -> io:put_chars(no_such_device, "x") end), t:pc(fun() -> io:request(no_such, getopts) end).
loop(In, Out) ->
    receive
        {io_request, From, As, Req} -> {Rep, In1, Out1} = req(Req, In, Out), From ! {io_reply, As, Rep}, loop(In1, Out1);
        {take, P} -> P ! {taken, unicode:characters_to_binary(lists:reverse(Out))}, loop(In, []);
        stop -> ok
    end.
req({put_chars, _, C}, I, O) -> {ok, I, [unicode:characters_to_binary(C) | O]};
req({put_chars, _, M, F, A}, I, O) -> try {ok, I, [unicode:characters_to_binary(apply(M, F, A)) | O]} catch _:_ -> {{error, {error, F}}, I, O} end;
req({get_line, _, P}, [], O) -> {eof, [], [unicode:characters_to_binary(io_lib:format("~s", [P])) | O]};
req({get_line, _, P}, I, O) -> {L, R} = line(I, []), {L, R, [unicode:characters_to_binary(P) | O]};
req({get_chars, _, _, N}, I, O) -> {lists:sublist(I, N), lists:nthtail(min(N, length(I)), I), O};
req({get_until, _, _, M, F, A}, I, O) -> case apply(M, F, [[], I | A]) of {done, Res, Rest} -> {Res, case Rest of eof -> []; _ -> Rest end, O}; {more, C} -> {done, Res, Rest} = apply(M, F, [C, eof | A]), {Res, case Rest of eof -> []; _ -> Rest end, O} end;
req({requests, Rs}, I, O) -> lists:foldl(fun(R, {_, I1, O1}) -> req(R, I1, O1) end, {ok, I, O}, Rs);
req({setopts, _}, I, O) -> {ok, I, O};
req(getopts, I, O) -> {[{binary, false}], I, O};
req({get_geometry, _}, I, O) -> {{error, enotsup}, I, O};
req(_, I, O) -> {{error, request}, I, O}.
line([], A) -> {lists:reverse(A), []};
line([$\n | R], A) -> {lists:reverse([$\n | A]), R};
line([C | R], A) -> line(R, [C | A]).
