%% ports/0 lists ports in the order of their slots: those that were opened first come first.
-module(ports_order).
-export([main/0]).

main() ->
    First = [cat() || _ <- lists:seq(1, 20)],
    t:p(own(First) =:= First),
    Closed = [lists:nth(N, First) || N <- [1, 3, 4, 20]],
    [port_close(P) || P <- Closed],
    All = (First -- Closed) ++ [cat() || _ <- lists:seq(1, 5)],
    t:p(own(All) =:= All),
    t:p(hd(erlang:ports()) < hd(All)),
    [port_close(P) || P <- All].

cat() -> open_port({spawn, "cat"}, []).

own(Ports) -> [P || P <- erlang:ports(), lists:member(P, Ports)].
