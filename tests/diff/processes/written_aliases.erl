-module(written_aliases).
-export([main/0]).

%% An alias that was written as bytes or text and read again is the alias that it was.
main() ->
    [t:p({How, sent(Write)}) || {How, Write} <- ways()],
    [t:p({Kind, sent(fun bytes/1, Make)}) || {Kind, Make} <- aliases()],
    t:p({answer_to_read_from, answer()}),
    t:p({ended, ended()}),
    t:p({ended_process, ended_process()}),
    t:p({size, byte_size(term_to_binary(alias())) - byte_size(term_to_binary(make_ref()))}),
    t:p({numbers, length(string:lexemes(ref_to_list(alias()), "."))}),
    t:p({many, many()}).

ways() ->
    [{bytes, fun bytes/1},
     {compressed, fun(A) -> [B, _] = binary_to_term(term_to_binary([A, lists:duplicate(99, a)], [compressed])), B end},
     {iovec, fun(A) -> binary_to_term(iolist_to_binary(term_to_iovec(A))) end},
     {text, fun(A) -> list_to_ref(ref_to_list(A)) end},
     {in_fun, fun(A) -> (bytes(fun() -> A end))() end},
     {key, fun(A) -> [{B, _}] = maps:to_list(bytes(#{A => 1})), B end},
     {twice, fun(A) -> bytes(bytes(A)) end}].

aliases() ->
    [{explicit, fun() -> alias() end},
     {reply, fun() -> alias([reply]) end},
     {monitor, fun() -> monitor(process, waiting(), [{alias, explicit_unalias}]) end},
     {demonitor, fun() -> monitor(process, waiting(), [{alias, demonitor}]) end},
     {reply_demonitor, fun() -> monitor(process, waiting(), [{alias, reply_demonitor}]) end},
     {spawned, fun() -> element(2, spawn_opt(fun wait/0, [{monitor, [{alias, explicit_unalias}]}])) end}].

waiting() -> spawn(fun wait/0).
wait() -> receive stop -> ok end.

bytes(T) -> binary_to_term(term_to_binary(T)).

sent(Write) -> sent(Write, fun() -> alias() end).
sent(Write, Make) ->
    A = Make(),
    B = Write(A),
    Self = self(),
    spawn(fun() -> B ! {1, B}, B ! {2, B}, Self ! sent end),
    receive sent -> ok end,
    {B =:= A, got(1, A), got(2, A), unalias(B)}.

got(N, A) -> receive {N, A} -> got after 0 -> nothing end.

answer() ->
    S = spawn(fun() -> receive {'$gen_call', From, _} -> gen_server:reply(bytes(From), answer) end, wait() end),
    gen_server:call(S, question).

%% After its end it is a reference as any other, and an alias written while it was one is none.
ended() ->
    A = alias(),
    B = term_to_binary(A),
    true = unalias(A),
    C = binary_to_term(B),
    C ! {1, A},
    {C =:= A, got(1, A), unalias(C), binary_to_term(term_to_binary(A)) =:= A}.

ended_process() ->
    {P, M} = spawn_monitor(fun() -> exit({alias, term_to_binary(alias())}) end),
    receive {'DOWN', M, process, P, {alias, B}} -> ok end,
    A = binary_to_term(B),
    A ! none,
    is_reference(A).

many() ->
    All = [begin A = alias(), {A, term_to_binary(A)} end || _ <- lists:seq(1, 5000)],
    {Odd, Even} = lists:partition(fun({_, B}) -> erlang:phash2(B) rem 2 =:= 1 end, All),
    [true = unalias(A) || {A, _} <- Odd],
    [binary_to_term(B) ! {n, A} || {A, B} <- All],
    Got = messages(),
    Got =:= [A || {A, _} <- Even].

messages() -> receive {n, A} -> [A | messages()] after 0 -> [] end.
