%% since 27
%% socket:sendv/2,3.
-module(since27_socket_send).
-export([main/0]).
-import(s, [any/0, pair/0, close/1]).

main() -> vector().

vector() ->
    {L, C, A} = pair(),
    t:p(socket:sendv(C, [<<"a">>, <<>>, <<"bc">>])),
    t:p(socket:recv(A, 3)),
    t:p(socket:sendv(C, [])),
    Many = [<<(N rem 256)>> || N <- lists:seq(1, 2500)],
    t:p(socket:sendv(C, Many)),
    t:p(socket:recv(A, 2500) =:= {ok, iolist_to_binary(Many)}),
    Empty = [<<"x">> | lists:duplicate(1500, <<>>)],
    t:p(socket:sendv(C, Empty)),
    t:p(socket:recv(A, 1)),
    #{counters := #{write_tries := Tries, write_pkg := Pkg, write_byte := Bytes}} = socket:info(C),
    t:p({Tries, Pkg, Bytes}),
    Wrong = [[foo], [<<"a">>, foo], [<<"a">> | <<"b">>], foo, [<<1:7>>]],
    t:p([t:c(fun() -> socket:sendv(C, W) end) || W <- Wrong]),
    Big = [binary:copy(<<0>>, 1000000) || _ <- lists:seq(1, 40)],
    {select, {{select_info, Op, H}, Rest}} = socket:sendv(C, Big, nowait),
    t:p({Op, iolist_size(Rest) < 40000000}),
    t:p(socket:cancel(C, {select_info, Op, H})),
    t:p(case socket:sendv(C, Rest, 20) of
            {error, {timeout, R}} when is_list(R) -> timeout;
            {error, timeout} -> timeout
        end),
    {ok, U} = socket:open(inet, dgram, udp),
    ok = socket:bind(U, any()),
    t:p(socket:sendv(U, [<<"a">>])),
    {ok, To} = socket:sockname(U),
    ok = socket:connect(U, To),
    t:p(socket:sendv(U, [<<"da">>, <<"ta">>])),
    t:p(socket:recv(U)),
    t:p([t:c(fun() -> socket:sendv(U, M) end) || M <- [Many, Empty]]),
    close([L, C, A, U]),
    t:p(socket:sendv(C, [<<"a">>])).
