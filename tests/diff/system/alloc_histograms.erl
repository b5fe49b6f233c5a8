%% Figures of allocators that are not enabled, and of what is no allocator or no thread. The request
%% has flags in later releases.
-module(alloc_histograms).
-export([main/0]).

main() ->
    Last = erts_internal:no_aux_work_threads() - 1,
    [t:p({F, Name, Which, Flags}, t:c(fun() -> erts_internal:F(request(Name, N, Flags)) end))
     || F <- [gather_alloc_histograms, gather_carrier_info],
        Flags <- [none, 0],
        {Name, Which, N} <- [{sys_alloc, first, 0}, {sys_alloc, last, Last}, {test_alloc, first, 0},
                             {sys_alloc, beyond, Last + 1}, {sys_alloc, before, -1}, {no_alloc, first, 0},
                             {"sys_alloc", first, 0}]],
    timer:sleep(20),
    t:p(t:flush()).

request(Name, Thread, none) -> {Name, Thread, 18, 128, make_ref()};
request(Name, Thread, Flags) -> {Name, Thread, 18, 128, Flags, make_ref()}.
