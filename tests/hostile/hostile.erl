%% Runs variants of damaged input; tests/hostile/run starts this.
-module(hostile).
-export([batch/1, one/1, below/1, pick/1]).

below(N) -> rand:uniform(max(1, N)) - 1.
pick(L) when is_list(L) -> lists:nth(rand:uniform(length(L)), L);
pick(T) -> element(rand:uniform(tuple_size(T)), T).

module("etf") -> hostile_etf;
module("ms") -> hostile_ms.

seed(Salt, N) -> _ = rand:seed(exsss, {list_to_integer(Salt), N, 4711}), ok.

%% Before each variant its number goes to the progress file, with the numbers of variants that
%% were taken and refused before; behind the last, "done" and the peak of memory in KB.
batch([Kind, Salt, From, To, File]) ->
    M = module(Kind),
    {ok, Progress} = file:open(File, [write, raw]),
    State = M:start(),
    {Good, Bad} = batch(M, State, Salt, list_to_integer(From), list_to_integer(To), Progress, {0, 0}),
    note(Progress, "done", Good, Bad, peak()),
    halt(0).

batch(_, _, _, N, To, _, Counts) when N > To -> Counts;
batch(M, State, Salt, N, To, Progress, {Good, Bad}) ->
    note(Progress, integer_to_list(N), Good, Bad, 0),
    seed(Salt, N),
    Variant = M:variant(),
    Counts = try M:run(Variant, State) of
                 good -> {Good + 1, Bad};
                 bad -> {Good, Bad + 1}
             catch
                 Class:Reason:Stack ->
                     io:format("ODD ~s ~b: ~0P ~0P ~0P ~0P~n",
                               [atom_to_list(M) -- "hostile_", N, Variant, 60, Class, 10, Reason, 20, Stack, 20]),
                     {Good, Bad}
             end,
    batch(M, State, Salt, N + 1, To, Progress, Counts).

note(Progress, At, Good, Bad, Peak) ->
    Line = io_lib:format("~s ~b ~b ~b        ~n", [At, Good, Bad, Peak]),
    ok = file:pwrite(Progress, 0, Line).

peak() ->
    case file:read_file("/proc/self/status") of
        {ok, Status} ->
            case re:run(Status, "VmHWM:\\s*([0-9]+)", [{capture, all_but_first, list}]) of
                {match, [KB]} -> list_to_integer(KB);
                _ -> 0
            end;
        _ -> 0
    end.

one([Kind, Salt, N, _, _]) ->
    M = module(Kind),
    State = M:start(),
    seed(Salt, list_to_integer(N)),
    Variant = M:variant(),
    io:format("~0p~n", [Variant]),
    io:format("~0p~n", [try M:run(Variant, State) catch C:R:S -> {C, R, S} end]),
    halt(0).
