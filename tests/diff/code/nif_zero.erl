%% Libraries take the word 0 for no term: no integer may have it. And they wait for descriptors that a
%% socket has too.
-module(nif_zero).
-export([main/0]).
-nifs([zeros/1, zero/0, again/2, raise/0, tell/0, writable/1]).

main() ->
    "" = build(),
    ok = erlang:load_nif(filename:rootname(tmp()), 0),
    t:p(zeros(0)),
    t:p({zero(), zero() + 1, [zero()], #{zero() => zero()}, zero() =:= 0}),
    t:p(again(0, 0)),
    t:p(try raise() catch error:0 -> raised end),
    t:p({tell(), receive M -> M after 1000 -> none end}),
    {ok, Udp} = gen_udp:open(0, [{active, false}]),
    {ok, Descriptor} = inet:getfd(Udp),
    t:p([selected(Descriptor) || _ <- [1, 2, 3]]),
    {ok, Port} = inet:port(Udp),
    ok = gen_udp:send(Udp, {127, 0, 0, 1}, Port, "to itself"),
    {ok, {_, _, Text}} = gen_udp:recv(Udp, 0, 1000),
    t:p({Text, selected(Descriptor), gen_udp:close(Udp)}).

selected(Descriptor) ->
    Result = writable(Descriptor),
    receive {select, _, Reference, Event} -> {Result, Reference, Event}
    after 2000 -> {Result, none}
    end.

tmp() -> filename:join(os:getenv("DIFF_TMP", "/tmp"), "nif_zero.so").
source() -> filename:join(os:getenv("here", "."), "nif_zero.c").

build() ->
    Include = filename:join([code:root_dir(), "usr", "include"]),
    os:cmd("cc -D_GNU_SOURCE -O1 -w -shared -fPIC -I" ++ Include ++ " -o " ++ tmp() ++ " " ++ source()).

zeros(_) -> erlang:nif_error(no_library).
zero() -> erlang:nif_error(no_library).
again(_, _) -> erlang:nif_error(no_library).
raise() -> erlang:nif_error(no_library).
tell() -> erlang:nif_error(no_library).
writable(_) -> erlang:nif_error(no_library).
