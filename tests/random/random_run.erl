%% Runs modules of random_gen and prints what each of their functions comes to: a line for each, with
%% its results for some triples of arguments, of any types and of those that it hopes for. What a run
%% of another machine may give otherwise (funs, pids) is left out.
%%
%%   erl -noshell -pa Dir -s random_run main r1 r2
-module(random_run).
-export([main/1]).

main(Modules) ->
    [module(M) || M <- Modules],
    halt().

module(M) ->
    [io:format("~w ~w ~w~n", [M, N, [run(F, Args) || Args <- arguments() ++ Hoped]]) || {N, F, Hoped} <- M:main()].

%% In a process of its own, which can't take long.
run(F, Args) ->
    {Pid, Ref} = spawn_monitor(fun() -> exit({came_to, result(F, Args)}) end),
    receive
        {'DOWN', Ref, process, Pid, {came_to, Result}} -> Result;
        {'DOWN', Ref, process, Pid, Why} -> {died, plain(Why)}
    after 20000 ->
        exit(Pid, kill),
        too_long
    end.

result(F, Args) ->
    Result = try apply(F, Args) of
                 Value -> Value
             catch
                 Class:Reason -> {Class, Reason}
             end,
    garbage_collect(),
    short(plain(Result)).

short(T) ->
    case erts_debug:flat_size(T) > 200 of
        true -> {hash, erlang:phash2(T)};
        false -> T
    end.

plain(F) when is_function(F) -> 'fun';
plain(P) when is_pid(P) -> pid;
plain(R) when is_reference(R) -> ref;
plain([H | T]) -> [plain(H) | plain(T)];
plain(T) when is_tuple(T) -> list_to_tuple([plain(E) || E <- tuple_to_list(T)]);
plain(M) when is_map(M) -> {map, [{plain(K), plain(V)} || {K, V} <- sorted(maps:to_list(M))]};
plain(X) -> X.

%% 1 and 1.0 are two keys.
sorted(Pairs) -> lists:sort(fun({A, _}, {B, _}) -> {A, is_float(A)} =< {B, is_float(B)} end, Pairs).

%% Since OTP 27 where an atom stands in a large map depends on what the machine has loaded.
arguments() ->
    Key = case erlang:system_info(otp_release) >= "27" of true -> "alias"; false -> alias end,
    Large = maps:from_list([{I, {I}} || I <- lists:seq(1, 40)]),
    [[1, 2, 3], [1.5, alias, [1, 2]], [{alias, 1}, #{alias => 1, big => 2}, <<"abcdefgh">>], [true, [], {}],
     [1 bsl 59, -1, 0.0], [[{alias, 1}, big], Large#{Key => 'xor'}, <<1:13, 2:20>>],
     ["k", #{"k" => 1, 1.0 => 2, 1 => 3}, ok]].
