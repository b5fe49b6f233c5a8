%% since 27
%% Counters that are restarted or paused: those that were not on begin to count, if the function is
%% watched at all.
-module(since27_trace_restarts).
-export([main/0, id/1]).

main() ->
    lists:foreach(fun steps/1, [
        [{true, [call_count]}, {restart, [call_time]}, {pause, [call_memory]}, {pause, [call_count]},
         {restart, [call_memory]}, {false, [call_count]}],
        [{restart, [call_time]}, {pause, [call_time]}],
        [{true, [call_time]}, {pause, [call_time]}, {restart, [call_time]}, {pause, [call_count]},
         {restart, [call_count]}, {false, [call_time]}],
        [{true, [call_count]}, {pause, [call_time]}, {restart, [call_time, call_memory, call_count]},
         {false, [call_time]}, {false, [call_memory]}, {false, [call_count]}],
        [{true, [call_count]}, {pause, [call_count]}, {restart, [call_time]}, {false, [call_count]},
         {false, [call_time]}],
        [{true, [local]}, {restart, [call_time]}, {pause, [call_count]}, {pause, [call_memory]}, {false, [local]}],
        [{true, [local]}, {pause, [local, call_count]}, {restart, [local, call_count]}, {pause, [local]}]]).

steps(Steps) ->
    S = trace:session_create(s, self(), []),
    [begin
         t:p({On, Flags, trace:function(S, {?MODULE, id, 1}, On, Flags)}),
         ?MODULE:id(x),
         t:p(told(trace:info(S, {?MODULE, id, 1}, all)))
     end || {On, Flags} <- Steps],
    trace:session_destroy(S).

told({all, All}) when is_list(All) ->
    [case Item of {K, L} when is_list(L), K =/= match_spec -> {K, list}; _ -> Item end || Item <- All];
told(Other) -> Other.

id(X) -> X.
