%% Output to a port that contains bit strings of no whole number of bytes.
-module(bit_output).
-export([main/0]).
main() ->
    process_flag(trap_exit, true),
    [t:p({A, How, output(How, A)}) || A <- data(), How <- [command, forced_not, send, control]].
data() -> [<<1:3>>, [<<1:3>>], [<<"a">>, <<1:3>>], [1 | <<1:3>>], [<<"ab">> | <<1:9>>], [<<1:3>>, <<5:5>>],
           [[<<1:7>>], <<"b">> | <<0:1>>], <<"a", 0:1>>, lists:duplicate(70, <<1:3>>), [<<0:800>>, <<0:801>>]].
output(control, A) ->
    S = open_port({spawn_driver, "tcp_inet"}, [binary]),
    R = try erlang:port_control(S, 0, A) of X -> X catch _:E -> E end,
    port_close(S),
    R;
output(How, A) ->
    P = open_port({spawn, "cat"}, [stream, binary]),
    R = try output(How, P, A) of X -> X catch _:E -> E end,
    catch port_command(P, "."),
    {R, came(P, <<>>)}.
output(command, P, A) -> port_command(P, A);
output(forced_not, P, A) -> port_command(P, A, [nosuspend]);
output(send, P, A) -> P ! {self(), {command, A}}, sent.
%% Up to the full stop, or to the port's end.
came(P, B) ->
    receive
        {P, {data, D}} ->
            case binary:last(D) of
                $. -> port_close(P), receive {'EXIT', P, normal} -> ok end, byte_size(<<B/binary, D/binary>>);
                _ -> came(P, <<B/binary, D/binary>>)
            end;
        {'EXIT', P, R} -> R
    after 5000 -> timeout
    end.
