%% Match contexts: used again after a failed clause, passed through functions,
%% kept in funs and terms, turned back into binaries.
-module(bin_contexts).
-export([main/0]).
main() ->
    t:p(words(<<"the quick  brown fox">>)), t:p(tlv(<<1, 3, "abc", 2, 0, 3, 2, "xy", 9>>)), t:p(csv(<<"a,b,\"c \"\"d\"\", e\",f\n1,2\n">>)),
    t:p(json(<<" {\"a\": [1, -2.5, true, null, \"x\\n\\u00e9\"], \"b\": {}} ">>)), t:p(both(<<1, 2, 3>>)), t:p(both(<<1, 2>>)), t:p(keep(<<1, 2, 3, 4>>)), t:p(back(<<"abcdef">>, 0)), t:p(twice(<<5, 6, 7, 8>>)),
    t:p(alt(<<0:1, 5:7, 1, 2>>)), t:p(alt(<<1:1, 5:7, 1, 2>>)), t:p(alt(<<1:1>>)), t:p(alt(<<>>)), t:p(alt(atom)), t:p(funs(<<"xyz">>)), t:p(count(binary:copy(<<"ab\n">>, 20000), 0)), t:p(rev(<<1, 2, 3>>, <<>>)),
    t:p(varint(<<16#AC, 2, 5, 16#80, 16#80, 1>>)), t:p(utf(<<"aé€𝄞"/utf8, 255, "z">>)), t:p(bits(<<2#1011001110001111:16>>, 1, [])), t:p(guarded(<<10, 200, 3>>)), t:p(guarded(<<200, 10>>)),
    Self = self(), <<_, R/binary>> = t:id(<<"hello">>), spawn(fun() -> Self ! {R, byte_size(R)} end), t:p(receive M -> M end), t:p(nested(<<2, 3, 1, 2, 3, 2, 9, 8>>)),
    t:p([head(B) || B <- [<<"GET / HTTP/1.1\r\n">>, <<"POST /x HTTP/1.0\r\n">>, <<"NOPE">>, <<>>]]), t:p(sum(<<1:12, 2:12, 3:12, 4:4>>, 0)), t:p(erlang:md5(pack(lists:seq(1, 3000), <<>>))).

words(B) -> words(B, <<>>, []).
words(<<$\s, R/binary>>, <<>>, Acc) -> words(R, <<>>, Acc);
words(<<$\s, R/binary>>, W, Acc) -> words(R, <<>>, [W | Acc]);
words(<<C, R/binary>>, W, Acc) -> words(R, <<W/binary, C>>, Acc);
words(<<>>, W, Acc) -> lists:reverse([W | Acc]).
tlv(<<T, L, V:L/binary, R/binary>>) -> [{T, V} | tlv(R)];
tlv(Rest) -> {rest, Rest}.
csv(B) -> csv(B, <<>>, [], []).
csv(<<$", R/binary>>, <<>>, F, Rows) -> quoted(R, <<>>, F, Rows);
csv(<<$,, R/binary>>, W, F, Rows) -> csv(R, <<>>, [W | F], Rows);
csv(<<$\n, R/binary>>, W, F, Rows) -> csv(R, <<>>, [], [lists:reverse([W | F]) | Rows]);
csv(<<C, R/binary>>, W, F, Rows) -> csv(R, <<W/binary, C>>, F, Rows);
csv(<<>>, <<>>, [], Rows) -> lists:reverse(Rows).
quoted(<<$", $", R/binary>>, W, F, Rows) -> quoted(R, <<W/binary, $">>, F, Rows);
quoted(<<$", R/binary>>, W, F, Rows) -> csv(R, <<W/binary>>, F, Rows);
quoted(<<C, R/binary>>, W, F, Rows) -> quoted(R, <<W/binary, C>>, F, Rows).

json(B) -> {V, R} = value(ws(B)), <<>> = ws(R), V.
ws(<<C, R/binary>>) when C =:= $\s; C =:= $\n; C =:= $\t -> ws(R);
ws(R) -> R.
value(<<"true", R/binary>>) -> {true, R};
value(<<"null", R/binary>>) -> {null, R};
value(<<$", R/binary>>) -> str(R, <<>>);
value(<<$[, R/binary>>) -> arr(ws(R), []);
value(<<${, R/binary>>) -> obj(ws(R), #{});
value(B) -> num(B, <<>>).
str(<<$", R/binary>>, A) -> {A, R};
str(<<$\\, $n, R/binary>>, A) -> str(R, <<A/binary, $\n>>);
str(<<$\\, $u, H:4/binary, R/binary>>, A) -> str(R, <<A/binary, (binary_to_integer(H, 16))/utf8>>);
str(<<C/utf8, R/binary>>, A) -> str(R, <<A/binary, C/utf8>>).
arr(<<$], R/binary>>, A) -> {lists:reverse(A), R};
arr(<<$,, R/binary>>, A) -> arr(ws(R), A);
arr(B, A) -> {V, R} = value(B), arr(ws(R), [V | A]).
obj(<<$}, R/binary>>, A) -> {A, R};
obj(<<$,, R/binary>>, A) -> obj(ws(R), A);
obj(<<$", B/binary>>, A) -> {K, R} = str(B, <<>>), <<$:, R1/binary>> = ws(R), {V, R2} = value(ws(R1)), obj(ws(R2), A#{K => V}).
num(<<C, R/binary>>, A) when C >= $0, C =< $9; C =:= $-; C =:= $. -> num(R, <<A/binary, C>>);
num(R, A) -> {case binary:match(A, <<".">>) of nomatch -> binary_to_integer(A); _ -> binary_to_float(A) end, R}.

both(<<A, B, C>> = All) -> {A, B, C, All};
both(<<A, R/bits>> = All) -> {A, R, byte_size(All)}.
keep(<<A, R/binary>>) -> {A, R, fun() -> R end, [R | keep2(R)]}.
keep2(<<A, B, R/binary>> = All) when A > B -> {gt, R, All};
keep2(<<A:16, R/binary>> = All) -> {A, R, All}.
back(B, N) -> case B of <<_:N/binary, $d, _/binary>> -> N; <<_:N/binary, _, _/binary>> -> back(B, N + 1) end.
twice(<<A, R/binary>>) -> <<B, _/binary>> = R, <<C:16, D/binary>> = R, {A, B, C, D, R}.
alt(<<0:1, X:7, R/binary>>) -> {zero, X, R};
alt(<<1:1, X:7, R/binary>>) -> {one, X, R};
alt(<<X:1, R/bits>>) -> {short, X, R};
alt(<<>>) -> empty;
alt(X) -> {other, X}.
funs(<<A, R/binary>>) -> F = fun(<<B, S/binary>>) -> {A, B, S, R} end, F(R).
count(<<$\n, R/binary>>, N) -> count(R, N + 1);
count(<<_, R/binary>>, N) -> count(R, N);
count(<<>>, N) -> N.
rev(<<A, R/binary>>, Acc) -> rev(R, <<A, Acc/binary>>);
rev(<<>>, Acc) -> Acc.
varint(B) -> varint(B, 0, 0, []).
varint(<<1:1, X:7, R/binary>>, S, V, Acc) -> varint(R, S + 7, V bor (X bsl S), Acc);
varint(<<0:1, X:7, R/binary>>, S, V, Acc) -> varint(R, 0, 0, [V bor (X bsl S) | Acc]);
varint(<<>>, 0, 0, Acc) -> lists:reverse(Acc).
utf(<<C/utf8, R/binary>>) -> [C | utf(R)];
utf(<<C, R/binary>>) -> [{bad, C} | utf(R)];
utf(<<>>) -> [].
bits(B, N, Acc) -> case B of <<X:N, R/bits>> -> bits(R, N + 1, [X | Acc]); _ -> {Acc, B} end.
guarded(<<A, R/binary>>) when A > 100 -> {big, A, R};
guarded(<<A, B, R/binary>>) when A + B > 100 -> {sum, A, B, R};
guarded(_) -> none.
nested(<<N, R/binary>>) -> nested(N, R, []).
nested(0, R, Acc) -> {lists:reverse(Acc), R};
nested(N, <<L, X:L/binary, R/binary>>, Acc) -> nested(N - 1, R, [[B || <<B>> <= X] | Acc]).
head(<<"GET ", R/binary>>) -> [P | _] = binary:split(R, <<" ">>), {get, P};
head(<<"POST ", R/binary>>) -> [P | _] = binary:split(R, <<" ">>), {post, P};
head(<<>>) -> empty;
head(_) -> bad.
sum(<<X:12, R/bits>>, S) -> sum(R, S + X);
sum(R, S) -> {S, R}.
pack([X | Xs], B) -> pack(Xs, <<B/bits, X:(1 + X rem 17)>>);
pack([], B) -> <<B/bits, 0:(8 - bit_size(B) rem 8)>>.
