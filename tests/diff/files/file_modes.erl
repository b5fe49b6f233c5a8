%% The modes of file:open/2: what each lets be done, in every combination that
%% matters, with processes, raw handles, and files in memory.
-module(file_modes).
-export([main/0]).

main() ->
    D = t:tmp("file_modes"),
    [kind(D, Name, Modes) || {Name, Modes} <- kinds()],
    exclusive(D),
    append(D),
    directories(D),
    bad_modes(D),
    file:del_dir_r(D).

kinds() ->
    [{ordinary, []}, {raw, [raw]}, {ahead, [raw, read_ahead]}, {ahead_n, [raw, {read_ahead, 3}]},
     {ahead_ordinary, [read_ahead]}, {delayed, [raw, delayed_write]},
     {delayed_n, [raw, {delayed_write, 4, 1000}]}, {delayed_ordinary, [delayed_write]},
     {sync, [sync]}, {raw_sync, [raw, sync]}, {both, [raw, read_ahead, delayed_write]}].

kind(D, Name, Modes) ->
    F = filename:join(D, atom_to_list(Name)),
    [begin
         [file:write_file(F, "some text\nand more\n") || Before],
         t:p({Name, Before, Access, use(F, Access ++ Modes)}),
         t:p(file:read_file(F))
     end
     || Before <- [false, true],
        Access <- [[], [read], [write], [read, write], [append], [read, append],
                   [binary], [read, binary], [write, binary], [read, write, binary]]],
    file:delete(F).

use(F, Modes) ->
    case t:c(fun() -> file:open(F, Modes) end) of
        {ok, H} ->
            A = [t:c(fun() -> file:read(H, 4) end),
                 t:c(fun() -> file:position(H, cur) end),
                 t:c(fun() -> file:write(H, "12345") end),
                 t:c(fun() -> file:position(H, cur) end),
                 t:c(fun() -> file:read(H, 3) end),
                 t:c(fun() -> file:read_line(H) end),
                 t:c(fun() -> file:pwrite(H, 2, <<"AB">>) end),
                 t:c(fun() -> file:position(H, cur) end),
                 t:c(fun() -> file:pread(H, 1, 4) end),
                 t:c(fun() -> file:position(H, {bof, 1}) end),
                 t:c(fun() -> file:read(H, 2) end),
                 t:c(fun() -> file:truncate(H) end),
                 t:c(fun() -> file:write(H, [$e, ["nd"], <<"!">>]) end),
                 t:c(fun() -> file:position(H, 0) end),
                 t:c(fun() -> file:read(H, 100) end),
                 t:c(fun() -> file:read(H, 100) end),
                 t:c(fun() -> file:sync(H) end),
                 t:c(fun() -> file:datasync(H) end),
                 t:c(fun() -> file:close(H) end),
                 t:c(fun() -> file:close(H) end),
                 t:c(fun() -> file:read(H, 1) end),
                 t:c(fun() -> file:write(H, "x") end)],
            {open, A};
        Other ->
            Other
    end.

exclusive(D) ->
    F = filename:join(D, "excl"),
    [t:p({excl, M, try_open(F, M)})
     || M <- [[exclusive], [exclusive], [read, exclusive], [write, exclusive], [raw, exclusive]]],
    t:p(file:delete(F)),
    [t:p({excl, M, try_open(F, M), file:delete(F)})
     || M <- [[read, exclusive], [write, exclusive], [raw, exclusive], [raw, read, write, exclusive],
              [append, exclusive]]].

try_open(F, M) ->
    case file:open(F, M) of
        {ok, H} ->
            R = {file:write(H, "abc"), file:position(H, 0), file:read(H, 3)},
            {R, file:close(H)};
        E -> E
    end.

append(D) ->
    F = filename:join(D, "app"),
    [begin
         file:write_file(F, "0123456789"),
         {ok, H} = file:open(F, [append | M]),
         A = [file:position(H, cur), file:position(H, 3), file:write(H, "x"), file:pwrite(H, 1, "y"),
              file:position(H, cur)],
         file:close(H),
         t:p({append, M, A, file:read_file(F)})
     end || M <- [[], [raw], [read], [raw, read], [raw, delayed_write]]].

directories(D) ->
    [t:p({dir, M, case t:c(fun() -> file:open(D, M) end) of
                      {ok, H} -> {ok, file:read(H, 1), file:close(H)};
                      E -> E
                  end})
     || M <- [[read], [write], [raw], [raw, read, write], [directory], [raw, directory], [read, directory, raw],
              [append], [exclusive], [directory, write, raw]]],
    F = filename:join(D, "plain"),
    file:write_file(F, "x"),
    [t:p({not_dir, M, t:c(fun() -> file:open(F, M) end)}) || M <- [[directory], [raw, directory]]],
    [t:p({none, M, t:c(fun() -> file:open(filename:join(D, "no/such"), M) end)})
     || M <- [[read], [write], [raw], [raw, write], [append], [exclusive], [compressed]]],
    [t:p({below, M, t:c(fun() -> file:open(filename:join(F, "such"), M) end)})
     || M <- [[read], [write], [raw], [raw, write]]].

bad_modes(D) ->
    F = filename:join(D, "plain"),
    [t:p({bad, M, t:c(fun() -> file:open(F, t:id(M)) end)})
     || M <- [[bad], [raw, bad], [{read_ahead, x}], [raw, {read_ahead, -1}], [raw, {read_ahead, x}],
              [raw, {delayed_write, 0, 0}], [raw, {delayed_write, -1, 1}], [{delayed_write, a, b}],
              [raw, {encoding, utf8}], [{encoding, none}], [{encoding, latin2}], read, [read | write],
              [read, 7], [{read, 1}], <<"read">>, [raw, ram, bad], [ram, bad], x, []]],
    [t:p({name, N, t:c(fun() -> case file:open(t:id(N), [read]) of {ok, H} -> file:close(H); E -> E end end)})
     || N <- ["", <<>>, [0], "a\0b", <<"a\0b">>, [-1], [1 bsl 30], {a}, 17, [a, b], none, [[], "no"], ["no", $t], [x | y]]].
