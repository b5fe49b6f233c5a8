%% Raw files: positions, reads past ends, delayed and read-ahead, pread and pwrite lists, advise, locks of owners.
-module(file_raw_modes).
-export([main/0]).
main() ->
    D = t:tmp("raw"), F = filename:join(D, "f"), [begin {ok, H} = file:open(F, [read, write, binary | M]),
    t:p(M, [file:write(H, "0123456789"), file:position(H, 3), file:read(H, 4), file:position(H, {cur, -2}), file:read(H, 100), file:read(H, 1), file:position(H, {eof, 2}), file:write(H, "x"), file:position(H, bof), file:read(H, 100), file:position(H, -1), file:position(H, {bof, -5}), file:position(H, bad), file:pread(H, 2, 3), file:pread(H, [{0, 1}, {100, 1}, {5, 2}]), file:pwrite(H, 1, "AB"), file:pwrite(H, [{0, "z"}, {20, "end"}]), file:pread(H, 0, 50), file:truncate(H), file:position(H, 5), file:truncate(H), file:position(H, eof), file:sync(H), file:datasync(H), file:advise(H, 0, 5, normal), file:advise(H, 0, 5, bad), file:allocate(H, 0, 1) =/= x, file:read(H, -1), file:write(H, [bad]), file:pread(H, -1, 5), file:read(H, 0), file:position(H, bof), file:read_line(H), file:close(H), file:close(H), file:read(H, 1)]), file:delete(F) end || M <- [[raw], [], [raw, {read_ahead, 4}], [raw, {delayed_write, 100, 50}]]], ok = file:write_file(F, "a\nbb\r\n\nlast"),
    [begin {ok, H} = file:open(F, [read | M]),
    t:p(M, [file:read_line(H) || _ <- lists:seq(1, 5)]), file:close(H) end || M <- [[raw], [raw, binary], [], [binary], [raw, binary, {read_ahead, 2}]]], {ok, R} = file:open(F, [raw, read]),
    t:p([file:write(R, "x"), file:pwrite(R, 0, "x"), file:truncate(R)]), S = self(), spawn(fun() -> S ! {other, t:c(fun() -> file:read(R, 1) end)} end),
    t:p(receive {other, X} -> X end), file:close(R), {ok, W} = file:open(F, [raw, write]),
    t:p(file:read(W, 1)), file:close(W),
    t:p(file:read_file(F)),
    t:p([element(1, file:open(F, O)) || O <- [[read, exclusive], [bad], [raw, {encoding, utf8}], [write, exclusive], [append, read], bad]]), {ok, Ap} = file:open(F, [raw, append]), file:write(Ap, "one"), file:position(Ap, bof), file:write(Ap, "two"), file:close(Ap),
    t:p(file:read_file(F)), ok = file:write_file(F, "gz", [compressed]),
    t:p(file:open(F, [read, compressed, binary]) =/= x), {ok, Gz} = file:open(F, [read, compressed, binary]),
    t:p(file:read(Gz, 10)), file:close(Gz), {ok, Sf} = file:open(F, [read, raw, binary]), {ok, To} = file:open(F ++ "2", [write, raw]),
    t:p(file:copy(Sf, To, 3)),
    t:p(file:copy(F, F ++ "3")),
    t:p(file:copy({F, [compressed]}, F ++ "4")),
    t:p(file:read_file(F ++ "4")).
