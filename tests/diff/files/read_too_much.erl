%% A read of more bytes than there can be memory for, from a file of four.
-module(read_too_much).
-export([main/0]).

main() ->
    Name = filename:join(t:tmp("too_much"), "f"),
    ok = file:write_file(Name, "abcd"),
    t:p([{Bits, [reads(Name, Modes, 1 bsl Bits) || Modes <- [[raw, binary], [raw], [raw, binary, {read_ahead, 10}], [binary]]]}
         || Bits <- [20, 46, 58, 59, 60, 62, 63, 64, 70]]),
    file:delete(Name).

%% Each with a file of its own: the process of one that is not raw may end.
reads(Name, Modes, Size) ->
    Reads = [fun(F) -> file:read(F, Size) end,
             fun(F) -> file:read(F, Size), file:read(F, 2) end,
             fun(F) -> file:pread(F, 1, Size) end,
             fun(F) -> file:pread(F, 9, Size) end,
             fun(F) -> file:pread(F, [{0, Size}, {1, 2}]) end,
             fun(F) -> file:pread(F, Size, 1) end],
    [begin
         {ok, F} = file:open(Name, [read | Modes]),
         R = t:c(fun() -> Read(F) end),
         catch file:close(F),
         R
     end || Read <- Reads].
