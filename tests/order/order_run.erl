%% Runs programs and prints the log of each: `erl -noshell -pa Dir -s order_run main FROM TO`, by their
%% seeds, or `-s order_run file FILE`, as they stand in a file.
-module(order_run).
-export([main/1, file/1, seeds/1, show/1]).

main([From, To]) ->
    all([{S, order_gen:program(S)} || S <- lists:seq(number(From), number(To))]).
number(A) -> list_to_integer(atom_to_list(A)).

file([File]) ->
    {ok, Programs} = file:consult(atom_to_list(File)),
    all(lists:enumerate(Programs)).

%% The programs of the seeds that a file names.
seeds([File]) ->
    {ok, Seeds} = file:consult(atom_to_list(File)),
    all([{S, order_gen:program(S)} || S <- Seeds]).

%% The program of a seed, to be read and changed by hand.
show([Seed]) ->
    io:format("~p.~n", [order_gen:program(number(Seed))]),
    halt().

all(Programs) ->
    logger:set_primary_config(level, none),
    % To load a module on its first call would wait for files.
    Modules = [order_vm, order_server, order_statem, gen, gen_server, gen_statem, supervisor, proc_lib, sys,
               error_logger, logger, maps, queue],
    ok = code:ensure_modules_loaded(Modules),
    % The first report of a module puts a persistent term, for which OTP waits for all its threads.
    [logger:allow(error, M) || M <- Modules],
    order_vm:init_shared(),
    [io:format("~w ~w~n", [N, order_vm:run(P)]) || {N, P} <- Programs],
    halt().
