%% What a program sees of the files that its executable carries.
-module(tree).
-export([main/1]).
-include_lib("kernel/include/file.hrl").

main(["node"]) ->
    %% A node beside it, of the same executable.
    Epmd = open_port({spawn, "epmd -daemon"}, [exit_status]),
    receive {Epmd, {exit_status, 0}} -> ok end,
    answers(),
    {ok, _} = net_kernel:start([list_to_atom("tree" ++ os:getpid()), shortnames]),
    {ok, P, N} = peer:start_link(#{name => peer:random_name()}),
    p(peer, {erpc:call(N, erlang, '+', [1, 2]), erpc:call(N, code, root_dir, []) =:= code:root_dir()}),
    peer:stop(P);
main(["named"]) ->
    %% Started with a name.
    p(named, node());
main(["address"]) ->
    %% Resolved by a program of OTP.
    p(address, inet:gethostbyname("localhost")),
    p(native, element(1, inet_gethost_native:gethostbyname("localhost")));
main(["libraries"]) ->
    %% A NIF library, loaded from memory.
    p(sha, binary:encode_hex(crypto:hash(sha256, "abc"))),
    p(priv, lists:sort(filelib:wildcard("lib/*.so", code:priv_dir(crypto))));
main(Args) ->
    p(args, Args),
    p(script, filename:basename(escript:script_name())),
    Root = code:root_dir(),
    {ok, Cwd} = file:get_cwd(),
    Lib = code:lib_dir(stdlib),
    Beam = filename:join([Lib, "ebin", "lists.beam"]),
    p(below, {lists:prefix(filename:dirname(Root), Lib), filename:basename(Root)}),
    p(list, [lists:member("kernel.app", Ns) || {ok, Ns} <- [file:list_dir(filename:join(code:lib_dir(kernel), "ebin"))]]),
    p(top, file:list_dir(filename:dirname(Root)) =:= {error, enotdir} orelse file:list_dir(Root)),
    {ok, Bytes} = file:read_file(Beam),
    p(read, {beam_lib:info(Bytes) =/= [], element(1, file:consult(filename:join([Lib, "ebin", "stdlib.app"])))}),
    {ok, F} = file:open(Beam, [read, raw, binary]),
    p(pread, {file:pread(F, 0, 4), file:position(F, eof) =:= {ok, byte_size(Bytes)}, file:read(F, 1)}),
    p(write_handle, file:write(F, "x")),
    ok = file:close(F),
    {ok, I} = file:read_file_info(Beam),
    p(info, {I#file_info.type, I#file_info.access, I#file_info.size =:= byte_size(Bytes), I#file_info.mode band 8#777}),
    {ok, D} = file:read_file_info(Lib),
    p(directory, {D#file_info.type, D#file_info.mode band 8#777}),
    p(dots, file:read_file(filename:join([Lib, "ebin", "..", ".", "ebin", "lists.beam"])) =:= {ok, Bytes}),
    p(slashes, filelib:is_dir(Lib ++ "//ebin/")),
    None = filename:join(Lib, "none"),
    p(none, [file:read_file(None), file:list_dir(None), file:open(None, [read]), file:read_link(None),
             file:delete(None), file:make_dir(None), file:open(None, [write])]),
    p(under_file, [file:read_file(Beam ++ "/x"), file:list_dir(Beam ++ "/x"), file:make_dir(Beam ++ "/x")]),
    p(as_directory, [file:list_dir(Beam), file:read_file(Lib), file:open(Lib, [read]), file:read_link(Beam)]),
    p(changes, [file:write_file(Beam, "x"), file:delete(Beam), file:rename(Beam, "x"), file:make_dir(Lib),
                file:del_dir(Lib), file:change_mode(Beam, 8#777), file:make_symlink("x", Beam),
                file:write_file_info(Beam, I), file:open(Beam, [append]), file:open(Beam, [exclusive])]),
    p(cwd, {file:set_cwd(Lib), file:get_cwd() =:= {ok, Cwd}}),
    p(copy, begin {ok, N} = file:copy(Beam, "copied"), N =:= byte_size(Bytes) end),
    p(copied, file:read_file("copied") =:= {ok, Bytes}),
    ok = file:delete("copied"),
    p(executable, [is_list(os:find_executable("erl", filename:join(Root, "bin"))), os:find_executable("lists.beam", filename:join(Lib, "ebin"))]),
    p(port, try open_port({spawn_executable, Beam}, []) catch error:E -> E end),
    p(os_cmd, os:cmd("echo there")),
    p(code, {code:which(lists) =:= Beam, code:is_loaded(tree) =/= false, filename:basename(code:which(tree))}),
    p(load, {code:unstick_mod(queue), code:load_file(queue)}),
    p(application, {application:ensure_all_started(crypto), code:priv_dir(no_such_application)}).

%% The daemon listens some time after the program that started it has ended.
answers() ->
    case erl_epmd:names() of
        {ok, _} -> ok;
        {error, _} -> timer:sleep(20), answers()
    end.

p(What, Value) -> io:format("~p: ~p~n", [What, Value]).
