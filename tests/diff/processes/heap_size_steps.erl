%% A process that does the same again has a heap of the same size again, though a few words more or less
%% survive: blocks come in steps. Of sixteen processes some may be a step further.
-module(heap_size_steps).
-export([main/0]).

main() ->
    t:p(after_garbage, distinct(fun(Live) -> garbage(10000), Live end)),
    t:p(twice, distinct(fun(Live) -> garbage(10000), garbage(10000), Live end)),
    t:p(small, distinct(fun(Live) -> garbage(500), Live end)),
    t:p(shrunk, distinct(fun(Live) -> garbage(100000), garbage_collect(), garbage(3000), Live end)).

%% Have processes with slightly different data few sizes after the same work?
distinct(Work) ->
    length(lists:usort([size_after(Work, Extra) || Extra <- lists:seq(0, 60, 4)])) =< 3.

size_after(Work, Extra) ->
    Self = self(),
    spawn_link(fun() ->
        Live = lists:seq(1, 100 + Extra),
        garbage_collect(),
        Kept = Work(Live),
        {heap_size, Size} = process_info(self(), heap_size),
        Self ! {size, Size, length(Kept)}
    end),
    receive {size, Size, _} -> Size end.

garbage(N) -> _ = t:id(lists:duplicate(N, a)), ok.
