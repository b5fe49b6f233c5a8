%% Lines and characters of files: read_line, io:get_line and its kin, encodings,
%% line ends, over the edges of buffers.
-module(file_text).
-export([main/0]).

main() ->
    D = t:tmp("file_text"),
    F = filename:join(D, "f"),
    [begin file:write_file(F, Text), t:p({Name, M, lines(F, M)}) end
     || {Name, Text} <- texts(), M <- [[], [raw], [binary], [raw, binary], [raw, read_ahead, binary], [raw, {read_ahead, 3}]]],
    [begin file:write_file(F, Text), t:p({Name, M, io_lines(F, M)}) end
     || {Name, Text} <- texts(), M <- [[], [binary], [{encoding, utf8}], [binary, {encoding, utf8}], [{encoding, latin1}],
                                       [{encoding, {utf16, big}}], [{encoding, {utf32, little}}, binary]]],
    [t:p({E, writes(F, E)}) || E <- [latin1, utf8, unicode, utf16, {utf16, little}, {utf16, big}, utf32, {utf32, little}, {utf32, big}]],
    requests(F),
    boms(F),
    file:del_dir_r(D).

texts() ->
    [{empty, ""}, {lf, "a\nbc\n\nd"}, {crlf, "a\r\nb\rc\r\n\r\n"}, {cr, "\r"}, {long, [lists:duplicate(300, $x), $\n, lists:duplicate(5000, $y), "\r\n", lists:duplicate(20000, $z)]},
     {utf8, <<"åäö\n日本語\nz"/utf8>>}, {bad, <<"ok\n", 255, 254, "\nlater\n">>}, {half, <<"ok\n", 226, 130>>}].

lines(F, M) ->
    {ok, H} = file:open(F, [read | M]),
    R = read_lines(H),
    file:close(H),
    R.
read_lines(H) ->
    case t:c(fun() -> file:read_line(H) end) of
        {ok, L} -> [short(L) | read_lines(H)];
        E -> [E]
    end.
short(L) when is_binary(L) -> case byte_size(L) > 80 of true -> {byte_size(L), binary:part(L, byte_size(L), -3), erlang:crc32(L)}; false -> L end;
short(L) when is_list(L), length(L) > 80 -> {length(L), lists:nthtail(length(L) - 3, L)};
short(L) -> L.

io_lines(F, M) ->
    [case file:open(F, [read | M]) of
         {ok, H} -> R = step(H, Fun, 12), file:close(H), R;
         E -> E
     end || Fun <- [fun(H) -> io:get_line(H, '') end, fun(H) -> io:get_chars(H, '', 3) end, fun(H) -> file:read(H, 4) end,
                    fun(H) -> io:fread(H, '', "~s") end, fun(H) -> file:read_line(H) end]].
step(_, _, 0) -> [more];
step(H, Fun, N) ->
    case t:c(fun() -> Fun(H) end) of
        eof -> [eof];
        {error, R} -> [{error, R}];
        {ok, L} -> [{ok, short_all(L)} | step(H, Fun, N - 1)];
        Other -> [short(Other) | step(H, Fun, N - 1)]
    end.
short_all(L) -> case L of [X] when is_list(X) -> [short(X)]; _ -> short(L) end.

writes(F, E) ->
    {ok, H} = file:open(F, [write, {encoding, E}]),
    R = [t:c(fun() -> io:put_chars(H, "abc") end), t:c(fun() -> io:put_chars(H, [229, 228]) end),
         t:c(fun() -> io:put_chars(H, [16#65E5]) end), t:c(fun() -> io:format(H, "~p ~ts~n", [{a, "b"}, [16#1F600]]) end),
         t:c(fun() -> file:write(H, <<"raw", 200>>) end), t:c(fun() -> io:put_chars(H, <<"ö"/utf8>>) end),
         t:c(fun() -> io:nl(H) end), t:c(fun() -> io:write(H, [1, 2]) end), t:c(fun() -> io:put_chars(H, a) end)],
    C = t:c(fun() -> file:close(H) end),
    {R, C, file:read_file(F)}.

requests(F) ->
    file:write_file(F, "{first, 1}.\n% remark\n[second].\nbad bad.\nfourth.\nunfinished"),
    {ok, H} = file:open(F, [read, write]),
    t:p([t:c(fun() -> io:read(H, '') end) || _ <- lists:seq(1, 8)]),
    t:p([io:getopts(H), io:setopts(H, [{encoding, utf8}]), io:getopts(H), io:setopts(H, [binary]), io:getopts(H),
         t:c(fun() -> io:setopts(H, [bad]) end), t:c(fun() -> io:setopts(H, [{encoding, klingon}]) end),
         t:c(fun() -> io:rows(H) end), t:c(fun() -> io:columns(H) end)]),
    file:position(H, 0),
    t:p([t:c(fun() -> io:scan_erl_form(H, '') end), t:c(fun() -> io:parse_erl_exprs(H, '') end), t:c(fun() -> io:parse_erl_form(H, '') end)]),
    file:position(H, 2),
    t:p([t:c(fun() -> io:get_chars(H, '', N) end) || N <- [0, 3, 100, 1, -1]]),
    file:position(H, 0),
    t:p([t:c(fun() -> io:get_line(H, 'p> ') end), file:position(H, cur), t:c(fun() -> file:pread(H, 1, 3) end), file:position(H, cur),
         t:c(fun() -> io:get_line(H, "") end), t:c(fun() -> file:pwrite(H, 0, "XX") end), t:c(fun() -> io:get_line(H, "") end)]),
    t:p([t:c(fun() -> io:request(H, nonsense) end), t:c(fun() -> io:requests(H, [{put_chars, latin1, "a"}, {put_chars, latin1, a}, {put_chars, latin1, "b"}]) end)]),
    Ref = make_ref(),
    H ! {file_request, self(), Ref, nonsense},
    t:p(receive {file_reply, Ref, X} -> X after 1000 -> none end),
    H ! {io_request, self(), Ref, {get_until, latin1, '', ?MODULE, none, []}},
    t:p(receive {io_reply, Ref, Y} -> Y after 1000 -> none end),
    file:close(H),
    t:p(t:c(fun() -> io:put_chars(H, "x") end)),
    t:p(t:c(fun() -> io:get_line(H, "") end)).

boms(F) ->
    [begin
         B = unicode:encoding_to_bom(E),
         file:write_file(F, [B, "rest of it"]),
         {ok, H} = file:open(F, [read, binary]),
         {ok, Start} = file:read(H, 4),
         {Enc, N} = unicode:bom_to_encoding(Start),
         t:p({E, B, Enc, N, file:position(H, N), io:setopts(H, [{encoding, latin1}]), file:read(H, 4)}),
         file:close(H)
     end || E <- [utf8, {utf16, big}, {utf16, little}, {utf32, big}, {utf32, little}, latin1]].
