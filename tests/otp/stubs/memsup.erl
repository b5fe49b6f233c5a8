%% Stand-in for os_mon's memsup: what suites ask before they take much memory.
-module(memsup).
-export([get_system_memory_data/0]).

get_system_memory_data() ->
    {ok, F} = file:open("/proc/meminfo", [read, raw, read_ahead]),
    try
        All = lines(F),
        [{Tag, KB * 1024} || {Tag, Name} <- names(), {N, KB} <- All, N =:= Name]
    after
        file:close(F)
    end.

names() ->
    [{system_total_memory, "MemTotal"}, {total_memory, "MemTotal"},
     {available_memory, "MemAvailable"}, {free_memory, "MemFree"}].

lines(F) ->
    case file:read_line(F) of
        {ok, L} ->
            case string:lexemes(L, ": \n") of
                [Name, N | _] -> [{Name, list_to_integer(N)} | lines(F)];
                _ -> lines(F)
            end;
        _ -> []
    end.
