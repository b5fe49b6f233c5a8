%% What may not be done, as somebody who may not do everything: where this program runs as root it
%% starts another machine as nobody. Where neither can be it prints what it prints elsewhere.
-module(file_denied).
-export([main/0, child/1]).

main() ->
    D = t:tmp("denied"),
    make(D),
    Said = case string:trim(os:cmd("id -u")) of
               "0" -> as_nobody(D);
               _ -> {ok, tries(D)}
           end,
    case Said of
        {ok, Results} -> [t:p(W, R) || {W, R} <- Results];
        cannot -> [t:p(W, R) || {W, R} <- expected()]
    end,
    os:cmd("chmod -R u+rwX '" ++ D ++ "'"),
    file:del_dir_r(D),
    t:p(read_only, read_only()).

%% What it comes to where it can be tried.
expected() ->
    [{read, [eacces,opened,eacces,eacces,eacces,eisdir,eacces,enoent,enoent]},
     {raw_read, [eacces,opened,eacces,eacces,eacces,eisdir,eacces,enoent,enoent]},
     {both, [eacces,eacces,eacces,eisdir,eacces,eisdir,eacces,eacces,eacces]},
     {append, [eacces,eacces,opened,eisdir,eacces,eisdir,eacces,eacces,eacces]},
     {exclusive, [eexist,eexist,eexist,eexist,eacces,eexist,eacces,eacces,eacces]},
     {read_file, [eacces,{ok,<<"data">>},eacces,eacces,eacces,eisdir,eacces,enoent,enoent]},
     {write_file, [eacces,eacces,ok,eisdir,eacces,eisdir,eacces,eacces,eacces]},
     {list_dir, [enotdir,enotdir,enotdir,eacces,eacces,{ok,["inside"]},eacces,enoent,enoent]},
     {info, [{regular,none},{regular,read},{regular,write},{directory,none},eacces,{directory,read},eacces,enoent,enoent]},
     {link_info, [{regular,none},{regular,read},{regular,write},{directory,none},eacces,{directory,read},eacces,enoent,enoent]},
     {delete, [eacces,eacces,eacces,eacces,eacces,eacces,eacces,enoent,enoent]},
     {del_dir, [eacces,eacces,eacces,eacces,eacces,eacces,eacces,enoent,enoent]},
     {make_dir, [eexist,eexist,eexist,eexist,eacces,eexist,eacces,eacces,eacces]},
     {rename, [eacces,eacces,eacces,eacces,eacces,eacces,eacces,enoent,enoent]},
     {symlink, [eexist,eexist,eexist,eexist,eacces,eexist,eacces,eacces,eacces]},
     {owner, [eperm,eperm,eperm,eperm,eacces,eperm,eacces,enoent,enoent]},
     {set_cwd, [enotdir,enotdir,enotdir,eacces,eacces,eacces,eacces,enoent,enoent]}].

%% A folder that may be entered by anybody and changed by nobody.
make(D) ->
    [ok = file:write_file(filename:join(D, N), "data") || N <- ["secret", "readable", "writable"]],
    Closed = filename:join(D, "closed"),
    ok = file:make_dir(Closed),
    ok = file:write_file(filename:join(Closed, "inside"), "data"),
    Listed = filename:join(D, "listed"),
    ok = file:make_dir(Listed),
    ok = file:write_file(filename:join(Listed, "inside"), "data"),
    ok = file:make_dir(filename:join(D, "empty")),
    Set = fun(N, M) -> ok = file:change_mode(filename:join(D, N), M) end,
    Set("secret", 8#000), Set("readable", 8#444), Set("writable", 8#222),
    Set("closed", 8#000), Set("listed", 8#444), Set("empty", 8#555), ok = file:change_mode(D, 8#555).

as_nobody(D) ->
    Out = filename:join("/tmp", "file_denied." ++ os:getpid()),
    ok = file:write_file(Out, ""),
    ok = file:change_mode(Out, 8#666),
    VM = os:getenv("VM", "erl"),
    Line = io_lib:format("cd / && HOME=/tmp setpriv --reuid=65534 --regid=65534 --clear-groups ~ts -noshell -noinput "
                         "-pa '~ts' -run file_denied child '~ts' '~ts' 2>&1",
                         [VM, filename:dirname(code:which(?MODULE)), D, Out]),
    os:cmd(lists:flatten(Line)),
    R = case file:consult(Out) of
            {ok, [Results]} -> {ok, Results};
            _ -> cannot
        end,
    file:delete(Out),
    R.

child([D, Out]) ->
    Results = tries(D),
    ok = file:write_file(Out, io_lib:format("~0p.~n", [Results])),
    halt().

tries(D) ->
    J = fun(N) -> filename:join(D, N) end,
    [{Name, [plain(t:c(fun() -> Fun(J(N)) end)) || N <- names()]} || {Name, Fun} <- operations()].

names() ->
    ["secret", "readable", "writable", "closed", "closed/inside", "listed", "listed/inside", "empty/new", "new"].

plain({ok, I}) when element(1, I) =:= file_info -> {element(3, I), element(4, I)};
plain({error, E}) -> E;
plain({ok, H}) when is_pid(H); element(1, H) =:= file_descriptor -> file:close(H), opened;
plain(X) -> X.

operations() ->
    [{read, fun(F) -> file:open(F, [read]) end},
     {raw_read, fun(F) -> file:open(F, [read, raw]) end},
     {both, fun(F) -> file:open(F, [read, write, raw]) end},
     {append, fun(F) -> file:open(F, [append, raw]) end},
     {exclusive, fun(F) -> file:open(F, [exclusive, raw]) end},
     {read_file, fun(F) -> file:read_file(F) end},
     {write_file, fun(F) -> file:write_file(F, "data") end},
     {list_dir, fun(F) -> file:list_dir(F) end},
     {info, fun(F) -> file:read_file_info(F) end},
     {link_info, fun(F) -> file:read_link_info(F) end},
     {delete, fun(F) -> file:delete(F) end},
     {del_dir, fun(F) -> file:del_dir(F) end},
     {make_dir, fun(F) -> file:make_dir(F) end},
     {rename, fun(F) -> file:rename(F, F ++ "2") end},
     {symlink, fun(F) -> file:make_symlink("x", F) end},
     {owner, fun(F) -> file:change_owner(F, 0) end},
     {set_cwd, fun(F) -> file:set_cwd(F) end}].

%% A file system that nobody may write to, not even root.
read_only() ->
    D = "/proc/self",
    J = fun(N) -> filename:join(D, N) end,
    [element(1, R) || R <- [file:open(J("status"), [read]), file:write_file(J("new"), "x"), file:delete(J("status")),
                            file:make_dir(J("new")), file:rename(J("status"), J("new"))]].
