%% What the programs in this folder share: printing, catching, hiding a value
%% from the compiler.
-module(t).
-export([p/1, p/2, c/1, pc/1, pc/2, id/1, st/1, each/2, plain/1, tmp/1, flush/0, await/1, until/1, now/1, by_turns/1]).

%% One term on one line, pids and the like made plain.
p(Term) ->
    io:format("~0tp~n", [plain(Term)]).

p(Label, Term) ->
    io:format("~0tp: ~0tp~n", [plain(Label), plain(Term)]).

%% What a call came to, as a term.
c(Fun) ->
    try Fun() of
        Value -> Value
    catch
        Class:Reason -> {Class, Reason}
    end.

pc(Fun) -> p(c(Fun)).
pc(Label, Fun) -> p(Label, c(Fun)).

%% The compiler cannot see through a remote call.
id(X) -> X.

%% Class, reason and stack of an exception; frames of the caller of main/0 left
%% out, arguments and lines kept.
st(Fun) ->
    try Fun() of
        Value -> {no_exception, Value}
    catch
        Class:Reason:Stack -> plain({Class, Reason, [frame(F) || F <- Stack, ours(F)]})
    end.

ours({M, _, _, _}) -> not lists:member(M, [init, t, erl_eval]).

frame({M, F, A, Info}) ->
    Error = case lists:keyfind(error_info, 1, Info) of
                {error_info, Map} -> [maps:without([pretty_printer], Map)];
                false -> []
            end,
    {M, F, A, [{line, L} || {line, L} <- Info, is_ours(M)] ++ Error}.

%% Lines of OTP's own modules may differ between its patch releases.
is_ours(M) ->
    not lists:member(M, [lists, maps, erlang, ets, gen_server, proc_lib, gen, string,
                         binary, io, io_lib, re, unicode, proplists, dict, gb_trees]).

each(Fun, List) -> lists:foreach(fun(X) -> p(X, c(fun() -> Fun(X) end)) end, List).

%% A term without what differs from run to run.
plain(X) when is_pid(X) -> pid;
plain(X) when is_reference(X) -> ref;
plain(X) when is_port(X) -> port;
plain(X) when is_function(X) ->
    case erlang:fun_info(X, type) of
        {type, external} -> X;
        {type, local} -> {'fun', element(2, erlang:fun_info(X, arity))}
    end;
plain([X | Xs]) -> [plain(X) | plain(Xs)];
plain(X) when is_tuple(X) -> list_to_tuple(plain(tuple_to_list(X)));
plain(X) when is_map(X) -> maps:from_list([{plain(K), plain(V)} || {K, V} <- maps:to_list(X)]);
plain(X) -> X.

%% A fresh folder for one program.
tmp(Name) ->
    Base = case os:getenv("DIFF_TMP") of
               false -> "/tmp";
               Dir -> Dir
           end,
    Path = filename:join(Base, Name ++ "." ++ os:getpid()),
    ok = filelib:ensure_dir(filename:join(Path, "x")),
    Path.

flush() ->
    receive M -> [M | flush()] after 0 -> [] end.

%% Waits until something is so: for another process or program that has to get there first. Ten
%% seconds, so that what never comes ends.
await(Fun) -> await(Fun, 2000).
await(_, 0) -> error(never);
await(Fun, N) ->
    case Fun() of
        true -> ok;
        false -> timer:sleep(5), await(Fun, N - 1)
    end.

%% A shell's commands that wait until this machine says that a program may go on: for as long, too.
until(What) -> lists:concat(["for i in $(seq 500); do [ -e ", What, " ] && break; sleep 0.02; done; "]).
now(What) -> ok = file:write_file(What, "").

%% No two that are the same stand beside each other.
by_turns([A, B | Rest]) -> A =/= B andalso by_turns([B | Rest]);
by_turns(_) -> true.
