%% .beam files taken apart and put together again: chunks, and the instructions of the code chunk.
%%
%% An operand is {Tag, N} (0 number, 1 integer, 2 atom, 3 x, 4 y, 5 label), {fr, N}, {lit, N},
%% {tr, Register, Type}, {alloc, [{Kind, N}]} or {list, [Operand]}; an instruction is
%% {Opcode, [Operand]}. Numbers need not make sense: whatever is given is written.
-module(corrupt_beam).
-export([chunks/1, file/1, code/1, code/2, op/1, literals/1, literals/2, atoms/1, atoms/2,
         rename/2, words/1]).

%% All chunks but those that loading ignores and that only make files large.
chunks(<<"FOR1", _:32, "BEAM", Rest/binary>>) ->
    [C || {Id, _} = C <- split(Rest), not lists:member(Id, [<<"Dbgi">>, <<"Docs">>, <<"ExCk">>])].

split(<<Id:4/binary, Size:32, Rest/binary>>) ->
    Pad = (4 - Size rem 4) rem 4,
    <<Data:Size/binary, _:Pad/binary, More/binary>> = Rest,
    [{Id, Data} | split(More)];
split(_) -> [].

file(Chunks) ->
    Body = iolist_to_binary([chunk(C) || C <- Chunks]),
    <<"FOR1", (byte_size(Body) + 4):32, "BEAM", Body/binary>>.

chunk({Id, Data}) ->
    B = iolist_to_binary(Data),
    [Id, <<(byte_size(B)):32>>, B, binary:copy(<<0>>, (4 - byte_size(B) rem 4) rem 4)].

%% ---- code ----

%% {Header, [Instruction]}
code(<<Size:32, Header:Size/binary, Code/binary>>) -> {Header, ops(Code)}.

code(Header, Ops) -> [<<(byte_size(Header)):32>>, Header, Ops].

ops(<<Op, Rest/binary>>) ->
    {_, Arity} = beam_opcodes:opname(Op),
    {Args, More} = args(Arity, Rest),
    case beam_opcodes:opname(Op) of
        {int_code_end, _} -> [{Op, Args}];
        _ -> [{Op, Args} | ops(More)]
    end.

args(0, Rest) -> {[], Rest};
args(N, Rest) ->
    {Arg, R1} = arg(Rest),
    {Args, R2} = args(N - 1, R1),
    {[Arg | Args], R2}.

arg(Bytes) ->
    case number(Bytes) of
        {{7, 1}, R1} ->
            {{0, N}, R2} = number(R1),
            {Args, R3} = args(N, R2),
            {{list, Args}, R3};
        {{7, 2}, R1} ->
            {{0, N}, R2} = number(R1),
            {{fr, N}, R2};
        {{7, 3}, R1} ->
            {{0, N}, R2} = number(R1),
            {Pairs, R3} = args(2 * N, R2),
            {{alloc, pairs(Pairs)}, R3};
        {{7, 4}, R1} ->
            {{0, N}, R2} = number(R1),
            {{lit, N}, R2};
        {{7, 5}, R1} ->
            {Reg, R2} = number(R1),
            {{0, T}, R3} = number(R2),
            {{tr, Reg, T}, R3};
        Plain -> Plain
    end.

pairs([{0, K}, {0, N} | Rest]) -> [{K, N} | pairs(Rest)];
pairs([]) -> [].

number(<<N:4, 0:1, Tag:3, Rest/binary>>) -> {{Tag, N}, Rest};
number(<<High:3, 0:1, 1:1, Tag:3, Low, Rest/binary>>) -> {{Tag, High bsl 8 bor Low}, Rest};
number(<<7:3, 1:1, 1:1, Tag:3, Rest/binary>>) ->
    {{0, L}, R} = number(Rest),
    long(Tag, L + 9, R);
number(<<L:3, 1:1, 1:1, Tag:3, Rest/binary>>) -> long(Tag, L + 2, Rest).

long(Tag, L, Bytes) ->
    <<N:L/signed-unit:8, Rest/binary>> = Bytes,
    {{Tag, N}, Rest}.

op({Op, Args}) -> iolist_to_binary([Op | [put_arg(A) || A <- Args]]).

put_arg({list, Args}) -> [tagged(7, 1), tagged(0, length(Args)) | [put_arg(A) || A <- Args]];
put_arg({fr, N}) -> [tagged(7, 2), tagged(0, N)];
put_arg({alloc, Pairs}) ->
    [tagged(7, 3), tagged(0, length(Pairs)) | [[tagged(0, K), tagged(0, N)] || {K, N} <- Pairs]];
put_arg({lit, N}) -> [tagged(7, 4), tagged(0, N)];
put_arg({tr, Reg, T}) -> [tagged(7, 5), put_arg(Reg), tagged(0, T)];
put_arg({Tag, N}) -> tagged(Tag, N).

tagged(Tag, N) when N >= 0, N < 16 -> N bsl 4 bor Tag;
tagged(Tag, N) when N >= 0, N < 16#800 -> [(N bsr 8) bsl 5 bor 8 bor Tag, N band 255];
tagged(Tag, N) ->
    case size_of(N, 2) of
        L when L =< 8 -> [(L - 2) bsl 5 bor 24 bor Tag, <<N:L/unit:8>>];
        L -> [7 bsl 5 bor 24 bor Tag, tagged(0, L - 9), <<N:L/unit:8>>]
    end.

size_of(N, L) when N < 1 bsl (8 * L - 1), N >= -(1 bsl (8 * L - 1)) -> L;
size_of(N, L) -> size_of(N, L + 1).

%% ---- tables ----

%% Each literal in external term format.
literals(<<_:32, Packed/binary>>) ->
    <<_:32, Plain/binary>> = zlib:uncompress(Packed),
    parts(Plain).

parts(<<N:32, Bytes:N/binary, Rest/binary>>) -> [Bytes | parts(Rest)];
parts(_) -> [].

literals(Count, Literals) ->
    Plain = iolist_to_binary([<<Count:32>> | [[<<(byte_size(L)):32>>, L] || L <- Literals]]),
    [<<(byte_size(Plain)):32>>, zlib:compress(Plain)].

atoms(<<Count:32, Rest/binary>>) -> {Count, texts(Rest)}.

texts(<<N, Text:N/binary, Rest/binary>>) -> [Text | texts(Rest)];
texts(_) -> [].

atoms(Count, Texts) -> [<<Count:32>> | [[byte_size(T), T] || T <- Texts]].

%% A copy of a module under another name. What it calls in the module of its old name (BIFs, most
%% of them) it still calls there.
rename(Chunks, Name) ->
    {_, Atoms} = atoms(proplists:get_value(<<"AtU8">>, Chunks)),
    Old = hd(Atoms),
    New = [atom_to_binary(Name) | tl(Atoms)] ++ [Old],
    N = length(New),
    [case C of
         {<<"AtU8">>, _} -> {<<"AtU8">>, iolist_to_binary(atoms(N, New))};
         {<<"ImpT">>, <<Count:32, Rest/binary>>} ->
             Own = << <<(case M of 1 -> N; _ -> M end):32, FA:8/binary>>
                      || <<M:32, FA:8/binary>> <= Rest >>,
             {<<"ImpT">>, <<Count:32, Own/binary>>};
         _ -> C
     end || C <- Chunks].

%% Tables of 32-bit words.
words(Bin) -> [W || <<W:32>> <= Bin].
