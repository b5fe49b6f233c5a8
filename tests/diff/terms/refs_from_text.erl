%% References and ports of this node from text, also those that it has not made.
-module(refs_from_text).
-export([main/0]).

main() ->
    Refs = ["0.1.262144.5", "0.1.524288.5", "0.1.1.1.1.1", "0.1.1.1.1",
            "0.1.65535.1", "0.1.131072.1", "0.0.1.1.131072.1", "0.0.0.0",
            "0.1.2.3.4.5.6", "0.1.2.262144", "0.4294967295.0.262143", "0.4294967296.0.1", "0.007.0.1",
            "0..0.1", ".1.0.1", "0.1.0.1 "],
    [t:pc(S, fun() ->
                 R = list_to_ref("#Ref<" ++ S ++ ">"),
                 {is_reference(R), binary_to_term(term_to_binary(R)) =:= R, (catch R ! hello)}
             end) || S <- Refs],
    Ports = ["0.268435455", "0.268435456", "0.4294967296", "0.1152921504606846975",
             "0.1152921504606846976", "0.999", "0", "0.", "0.-1"],
    [t:pc(S, fun() -> port(list_to_port("#Port<" ++ S ++ ">")) end) || S <- Ports].

port(P) ->
    {is_port(P), port_to_list(P), binary_to_term(term_to_binary(P)) =:= P, erlang:port_info(P),
     node(P) =:= node(), erlang:phash2(P), P > hd(erlang:ports()), P =:= hd(erlang:ports()),
     t:c(fun() -> P ! hello end), t:c(fun() -> port_close(P) end), t:c(fun() -> register(x, P) end),
     begin M = monitor(port, P), receive {'DOWN', M, port, P, Why} -> Why end end}.
