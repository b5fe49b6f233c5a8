%% A peer that knows the cookie, does its handshake, and then sends what no node sends. That ends its
%% connection, or means nothing; the other node goes on.
-module(hostile).
-export([main/0, cases/0, outcome_of/3, pid/2, theirs/2, ref/1, t/1, signal/1, hdr/2, frag/4, send/2, send/3]).

main() ->
    N = two:other(),
    [show(N, Case) || Case <- cases()],
    two:p(alive, fun() -> rpc:call(N, erlang, abs, [-1]) end),
    two:p(none_left, fun() -> none_left(N, 200) end).
%% The last one's end has to get there.
none_left(N, Tries) ->
    case rpc:call(N, erlang, nodes, [hidden]) of
        [_ | _] when Tries > 0 -> timer:sleep(20), none_left(N, Tries - 1);
        Left -> Left
    end.

show(N, {Name, Packets}) ->
    two:p(Name, fun() -> outcome_of(N, Name, Packets) end).
%% Whether the other node has ended the connection that brought the packets.
outcome_of(N, Name, Packets) ->
    {S, Env} = connect(N, Name),
    ok = inet:setopts(S, [{packet, raw}]),
    _ = [gen_tcp:send(S, raw(F(Env))) || F <- Packets],
    R = outcome(S, 150),
    gen_tcp:close(S),
    R.
raw({raw, B}) -> B;
raw(B) -> [<<(iolist_size(B)):32>>, B].
outcome(S, Time) ->
    case gen_tcp:recv(S, 0, Time) of
        {ok, _} -> outcome(S, Time);
        {error, timeout} -> open;
        {error, _} -> closed
    end.

%% The socket of a connection, and who both sides are.
connect(N, Case) ->
    [Short, Host] = string:split(atom_to_list(N), "@"),
    {port, Port, _} = erl_epmd:port_please(Short, Host),
    {ok, S} = gen_tcp:connect(Host, Port, [binary, {packet, 2}, {active, false}, {nodelay, true}]),
    Me = list_to_binary(["fake_", atom_to_list(Case), "@", Host]),
    Cookie = atom_to_list(erlang:get_cookie()),
    ok = gen_tcp:send(S, <<$N, (flags(Case)):64, 77:32, (byte_size(Me)):16, Me/binary>>),
    {ok, <<"sok">>} = gen_tcp:recv(S, 0, 5000),
    {ok, <<$N, _:64, Challenge:32, Creation:32, _/binary>>} = gen_tcp:recv(S, 0, 5000),
    Digest = erlang:md5([Cookie | integer_to_list(Challenge)]),
    ok = gen_tcp:send(S, <<$r, 4711:32, Digest/binary>>),
    Answer = erlang:md5([Cookie | "4711"]),
    {ok, <<$a, Answer/binary>>} = gen_tcp:recv(S, 0, 5000),
    {S, #{me => Me, them => atom_to_binary(N), creation => Creation}}.
%% All that OTP 25 needs, monitors, payloads and processes; no atom cache, no fragments.
%% Cases of distribution headers and fragments have both.
flags(Case) ->
    case atom_to_list(Case) of
        "hdr_" ++ _ -> 16#D075F5FBC bor 16#802000;
        _ -> 16#D075F5FBC
    end.

%% The form of terms that we could not have.
pid(#{me := Me}, I) -> pid(Me, I, 77);
pid(B, I) -> pid(B, I, 77).
pid(Node, I, Creation) -> <<88, 119, (byte_size(Node)), Node/binary, I:32, 0:32, Creation:32>>.
theirs(#{them := T, creation := C}, I) -> pid(T, I, C).
ref(#{me := Me}) -> ref(Me, 77, [5, 6, 7]).
ref(Node, Creation, Ns) ->
    <<90, (length(Ns)):16, 119, (byte_size(Node)), Node/binary, Creation:32,
      << <<X:32>> || X <- Ns >>/binary>>.
their_ref(#{them := T, creation := C}, Ns) -> ref(T, C, Ns).
t(X) -> <<131, B/binary>> = term_to_binary(X), B.
tuple(L) -> [<<104, (length(L))>> | L].
signal(L) -> signal(L, []).
signal(L, Rest) -> [<<112, 131>>, tuple([<<97, (hd(L))>> | tl(L)]), Rest].
message(X) -> [131, t(X)].
%% Behind a distribution header.
hdr(Header, Terms) -> [131, 68, Header, Terms].
frag(Kind, Sequence, Left, Rest) -> [131, Kind, <<Sequence:64, Left:64>>, Rest].
send(E, To) -> send(E, To, t(m)).
send(E, To, Message) -> [tuple([<<97, 6>>, pid(E, 1), t(''), To]), Message].

cases() -> [
    {tick, [fun(_) -> <<>> end]},
    {garbage, [fun(_) -> <<"GET / HTTP/1.1">> end]},
    {zero, [fun(_) -> <<0>> end]},
    {oversized, [fun(_) -> {raw, <<16#FFFFFFFF:32, 1, 2, 3>>} end]},
    {half_a_packet, [fun(_) -> {raw, <<1000:32, 112, 131>>} end]},
    {no_term, [fun(_) -> <<112>> end]},
    {no_version, [fun(_) -> [112, tuple([<<97, 2>>])] end]},
    {cut_off, [fun(_) -> <<112, 131, 104, 3, 97>> end]},
    {bad_tag, [fun(_) -> <<112, 131, 7>> end]},
    {huge_tuple, [fun(_) -> <<112, 131, 105, 16#7FFFFFFF:32>> end]},
    {huge_binary, [fun(_) -> <<112, 131, 109, 16#FFFFFFFF:32, 1>> end]},
    {huge_list, [fun(_) -> <<112, 131, 108, 16#FFFFFFFF:32, 106>> end]},
    {compressed, [fun(E) -> [signal([6, pid(E, 1), t(''), t(rex)]), term_to_binary(lists:duplicate(9000, a), [compressed])] end]},
    {bad_atom, [fun(_) -> <<112, 131, 119, 2, 16#C0, 16#80>> end]},
    {no_tuple, [fun(_) -> [112, 131, t(hej)] end]},
    {empty_tuple, [fun(_) -> [112, 131, t({})] end]},
    {no_number, [fun(_) -> [112, 131, t({a, b})] end]},
    {no_operation, [fun(_) -> [112, 131, t({99, a, b})] end]},
    {big_operation, [fun(_) -> [112, 131, t({100000, a, b})] end]},
    {negative, [fun(_) -> [112, 131, t({-1, a, b})] end]},
    {send_to_atom, [fun(_) -> [signal([2, t(''), t(x)]), message(m)] end]},
    {send_to_nobody, [fun(E) -> [signal([2, t(''), theirs(E, 30000)]), message(m)] end]},
    {send_elsewhere, [fun(_) -> [signal([2, t(''), pid(<<"x@y">>, 1)]), message(m)] end]},
    {send_to_name, [fun(E) -> [signal([6, pid(E, 1), t(''), t(nobody)]), message(m)] end]},
    {send_to_number, [fun(E) -> [signal([6, pid(E, 1), t(''), t(1)]), message(m)] end]},
    {send_bad_message, [fun(E) -> [signal([6, pid(E, 1), t(''), t(rex)]), <<131, 104, 9>>] end]},
    {link_from_third, [fun(E) -> signal([1, pid(<<"x@y">>, 1), theirs(E, 30000)]) end]},
    {link_from_itself, [fun(E) -> signal([1, theirs(E, 1), theirs(E, 1)]) end]},
    {link_to_third, [fun(E) -> signal([1, pid(E, 1), pid(<<"x@y">>, 1)]) end]},
    {link_to_nobody, [fun(E) -> signal([1, pid(E, 1), theirs(E, 30000)]) end]},
    {link_short, [fun(E) -> signal([1, pid(E, 1)]) end]},
    {unlink_zero, [fun(E) -> signal([35, t(0), pid(E, 1), theirs(E, 30000)]) end]},
    {unlink_atom, [fun(E) -> signal([35, t(x), pid(E, 1), theirs(E, 30000)]) end]},
    {unlink_nothing, [fun(E) -> signal([35, t(9), pid(E, 1), theirs(E, 30000)]) end]},
    {ack_nothing, [fun(E) -> signal([36, t(9), pid(E, 1), theirs(E, 30000)]) end]},
    {exit_from_third, [fun(E) -> signal([3, pid(<<"x@y">>, 1), theirs(E, 30000), t(r)]) end]},
    {exit_nobody, [fun(E) -> signal([3, pid(E, 1), theirs(E, 30000), t(r)]) end]},
    {exit_unlinked, [fun(E) -> signal([3, pid(E, 1), theirs(E, 0), t(r)]) end]},
    {exit2_name, [fun(E) -> signal([8, pid(E, 1), t(init), t(kill)]) end]},
    {monitor_no_ref, [fun(E) -> signal([19, pid(E, 1), t(rex), t(r)]) end]},
    {monitor_number, [fun(E) -> signal([19, pid(E, 1), t(7), ref(E)]) end]},
    {monitor_twice, [fun(E) -> signal([19, pid(E, 1), t(rex), ref(E)]) end,
                     fun(E) -> signal([20, pid(E, 1), t(rex), ref(E)]) end,
                     fun(E) -> signal([20, pid(E, 1), t(rex), ref(E)]) end]},
    {down_nothing, [fun(E) -> signal([21, pid(E, 1), theirs(E, 1), their_ref(E, [1, 2, 3]), t(r)]) end]},
    {down_third, [fun(E) -> signal([21, t(7), theirs(E, 1), their_ref(E, [1, 2, 3]), t(r)]) end]},
    {leader_atom, [fun(E) -> signal([7, t(user), theirs(E, 1)]) end]},
    {alias_nothing, [fun(E) -> [signal([33, pid(E, 1), their_ref(E, [1, 2, 3])]), message(m)] end]},
    {alias_atom, [fun(E) -> [signal([33, pid(E, 1), t(x)]), message(m)] end]},
    {spawn_own_ref, [fun(E) -> [signal([29, their_ref(E, [1, 2, 3]), pid(E, 1), pid(E, 1),
                                        t({erlang, self, 0}), t([])]), message([])] end]},
    {spawn_no_call, [fun(E) -> [signal([29, ref(E), pid(E, 1), pid(E, 1), t(x), t([])]), message([])] end]},
    {spawn_no_atoms, [fun(E) -> [signal([29, ref(E), pid(E, 1), pid(E, 1), t({1, 2, 3}), t([])]), message([])] end]},
    {spawn_bad_option, [fun(E) -> [signal([29, ref(E), pid(E, 1), pid(E, 1), t({erlang, self, 0}), t([bad])]), message([])] end]},
    {spawn_undefined, [fun(E) -> [signal([29, ref(E), pid(E, 1), pid(E, 1), t({nomod, f, 0}), t([])]), message([])] end]},
    {reply_nothing, [fun(E) -> signal([31, their_ref(E, [1, 2, 3]), theirs(E, 1), t(0), pid(E, 2)]) end]},
    {reply_flags, [fun(E) -> signal([31, their_ref(E, [1, 2, 3]), theirs(E, 1), t(x), pid(E, 2)]) end]},
    {fragment, [fun(_) -> <<131, 69, 1:64, 1:64, 0, 131, 97, 1>> end]},
    {hdr_none, [fun(E) -> [signal([6, pid(E, 1), t(''), t(nobody)]), message(m)] end]},
    {hdr_one_byte, [fun(_) -> <<131>> end]},
    {hdr_cut, [fun(_) -> <<131, 68>> end]},
    {hdr_kind, [fun(_) -> <<131, 71, 0, 97, 1>> end]},
    {hdr_no_flags, [fun(_) -> <<131, 68, 9, 0>> end]},
    {hdr_no_atoms, [fun(_) -> <<131, 68, 2, 16#88, 0>> end]},
    {hdr_atom_cut, [fun(_) -> <<131, 68, 1, 16#08, 1, 200, $a>> end]},
    {hdr_long_cut, [fun(_) -> <<131, 68, 1, 16#18, 1, 1>> end]},
    {hdr_bad_utf8, [fun(_) -> <<131, 68, 1, 16#08, 1, 2, 16#C0, 16#80, 97, 1>> end]},
    {hdr_undefined, [fun(E) -> hdr([<<1, 7, 255>>], [tuple([<<97, 6>>, pid(E, 1), t(''), <<82, 0>>]), t(m)]) end]},
    {hdr_no_such_ref, [fun(E) -> hdr([0], [tuple([<<97, 6>>, pid(E, 1), t(''), <<82, 0>>]), t(m)]) end]},
    {hdr_defined, [fun(E) -> hdr([<<1, 8, 7, 6, "nobody">>], send(E, <<82, 0>>)) end,
                   fun(E) -> hdr([<<1, 0, 7>>], send(E, <<82, 0>>)) end]},
    {hdr_fine, [fun(E) -> hdr([0], send(E, t(nobody))) end]},
    {hdr_version, [fun(E) -> hdr([0], [131, send(E, t(nobody))]) end]},
    {frag_cut, [fun(_) -> <<131, 69, 1:64, 1:32>> end]},
    {hdr_frag_cut, [fun(_) -> <<131, 69, 1:64, 1:32>> end]},
    {hdr_frag_one, [fun(E) -> frag(69, 5, 1, [0 | send(E, t(nobody))]) end]},
    {hdr_frag_two, [fun(E) -> frag(69, 5, 2, [0 | send(E, t(nobody), <<109, 4:32, 1, 2>>)]) end,
                    fun(_) -> frag(70, 5, 1, <<3, 4>>) end]},
    {hdr_frag_first_again, [fun(E) -> frag(69, 5, 2, [0 | send(E, t(nobody))]) end,
                            fun(E) -> frag(69, 5, 2, [0 | send(E, t(nobody))]) end]},
    {hdr_frag_gap, [fun(E) -> frag(69, 5, 4, [0 | send(E, t(nobody))]) end,
                    fun(_) -> frag(70, 5, 2, <<1>>) end]},
    {hdr_frag_no_first, [fun(_) -> frag(70, 6, 1, <<1>>) end]},
    {hdr_frag_unfinished, [fun(E) -> frag(69, 7, 1000, [0 | send(E, t(nobody))]) end]},
    {hdr_frag_interleaved, [fun(E) -> frag(69, I, 2, [0 | send(E, t(nobody), <<109, 4:32, 1, 2>>)]) end || I <- [1, 2, 3]]
                        ++ [fun(_) -> frag(70, I, 1, <<3, 4>>) end || I <- [3, 1, 2]]},
    {many, [fun(E) -> [signal([6, pid(E, 1), t(''), t(nobody)]), message(I)] end || I <- lists:seq(1, 500)]}
].
