%% Reading and writing by lines, characters, terms, in encodings, past the end, on closed files.
-module(file_io_protocol).
-export([main/0]).
-export([until/2]).
main() ->
    D = t:tmp("fp"), F = filename:join(D, "x"), ok = file:write_file(F, <<"line one\nline twö\n{term, 1}.\n\"unfinished"/utf8>>), {ok, H} = file:open(F, [read, {encoding, utf8}]),
    t:p([io:get_line(H, ''), io:get_chars(H, '', 3), io:fread(H, '', "~s"), io:get_line(H, ''), io:read(H, ''), io:read(H, ''), io:get_line(H, ''), io:get_chars(H, '', 5)]),
    t:p(io:getopts(H)),
    t:p(io:setopts(H, [{encoding, latin1}])),
    t:p(file:position(H, bof)),
    t:p(io:get_line(H, '')),
    t:p(io:get_line(H, '')), file:close(H),
    t:p(t:c(fun() -> io:get_line(H, '') end)),
    t:p(file:read(H, 1)), {ok, W} = file:open(F, [write]),
    t:p(t:c(fun() -> io:put_chars(W, [16#6F22]) end)),
    t:p(t:c(fun() -> io:put_chars(W, [233]) end)),
    t:p(t:c(fun() -> file:write(W, [256]) end)),
    t:p(t:c(fun() -> io:format(W, "~p~n", [x]) end)), file:close(W),
    t:p(file:read_file(F)), {ok, R} = file:open(F, [read, binary]),
    t:p(io:get_line(R, '')),
    t:p(file:write(R, "x")),
    t:pc(fun() -> io:get_chars(R, '', -1) end),
    t:p(io:request(R, {get_until, unicode, '', ?MODULE, until, []})),
    t:p(io:request(R, bad)),
    t:p(io:requests(R, [{put_chars, latin1, "x"}, nl])), file:close(R), {ok, A} = file:open(F, [append]), io:nl(A), file:close(A),
    t:p(file:read_file(F)),
    t:p(io:rows(A)),
    t:p(io:columns(A)).
until([], Cs) when is_list(Cs) -> {done, {list, Cs}, []}; until([], Cs) -> {done, {other, Cs}, []}.
