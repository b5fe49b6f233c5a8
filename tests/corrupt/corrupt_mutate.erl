%% Variants of a module: damage chosen by a random generator with a given seed. The same seed and
%% number give the same file everywhere (with the same OTP).
-module(corrupt_mutate).
-export([seed/2, variant/3]).

-record(seed, {name, file, chunks, header, ops, encoded, functions, pool, literals}).

%% What is known of a module before it is damaged.
seed(Name, Chunks) ->
    {Header, Ops} = corrupt_beam:code(proplists:get_value(<<"Code">>, Chunks)),
    OpsT = list_to_tuple(Ops),
    #seed{name = Name, file = corrupt_beam:file(Chunks), chunks = Chunks, header = Header,
          ops = OpsT, encoded = list_to_tuple([corrupt_beam:op(O) || O <- Ops]),
          functions = list_to_tuple(functions(Ops)),
          pool = list_to_tuple(lists:usort(lists:flatmap(fun operands/1, Ops))),
          literals = case lists:keyfind(<<"LitT">>, 1, Chunks) of
                         {_, L} -> corrupt_beam:literals(L);
                         false -> []
                     end}.

%% {First, Last} instruction of each function, counted from 1.
functions(Ops) ->
    Starts = [I - 2 || {I, {2, _}} <- lists:enumerate(Ops)] ++ [length(Ops)],
    [{max(1, A), B} || {A, B} <- lists:zip(lists:droplast(Starts), tl(Starts))].

operands({_, Args}) -> lists:flatmap(fun ({list, L}) -> L; (A) -> [A] end, Args).

%% {What was done, File}
variant(#seed{} = S, Number, Salt) ->
    _ = rand:seed(exsss, {Salt, Number, erlang:phash2(S#seed.name)}),
    case os:getenv("CORRUPT_MUTATE") of
        "semantic" -> semantic(S);
        _ -> any(S)
    end.

any(S) ->
    case below(100) of
        N when N < 62 -> code(S);
        N when N < 70 -> literals(S);
        N when N < 82 -> tables(S);
        N when N < 86 -> types(S);
        N when N < 88 -> header(S);
        N when N < 91 -> mixed(S);
        _ -> raw(S)
    end.

below(N) -> rand:uniform(max(1, N)) - 1.
pick([]) -> none;
pick(L) when is_list(L) -> lists:nth(rand:uniform(length(L)), L);
pick(T) -> element(rand:uniform(tuple_size(T)), T).

put_chunk(Id, Data, Chunks) -> lists:keystore(Id, 1, Chunks, {Id, iolist_to_binary(Data)}).
get_chunk(Id, Chunks) -> proplists:get_value(Id, Chunks, <<>>).

%% ---- code ----

code(S) ->
    {What, Encoded} = damage_code(1 + below(3) * below(2), S),
    {What, corrupt_beam:file(put_chunk(<<"Code">>, corrupt_beam:code(S#seed.header, Encoded),
                                       S#seed.chunks))}.

%% All damage of one variant is in one function: so one part may make up for another.
damage_code(Times, S) ->
    {First, Last} = pick(S#seed.functions),
    damage_code(Times, S, First, Last, [], S#seed.encoded).

damage_code(0, _, _, _, What, Encoded) -> {{code, lists:reverse(What)}, tuple_to_list(Encoded)};
damage_code(N, S, First, Last, What, Encoded) ->
    At = First + below(Last - First + 1),
    {Op, Args} = element(At, S#seed.ops),
    {W, New} =
        case below(20) of
            0 -> {delete, <<>>};
            1 -> {twice, [element(At, Encoded), element(At, Encoded)]};
            2 ->
                Other = First + below(Last - First + 1),
                {{copy_of, Other}, [element(Other, Encoded), element(At, Encoded)]};
            3 ->
                Other = First + below(Last - First + 1),
                {{replaced_by, Other}, element(Other, Encoded)};
            4 ->
                Other = 1 + below(tuple_size(S#seed.ops)),
                {{replaced_by_far, Other}, element(Other, Encoded)};
            5 ->
                {Name, Arity} = beam_opcodes:opname(Op),
                Same = [O || O <- lists:seq(1, 180),
                             O =/= Op, element(2, beam_opcodes:opname(O)) =:= Arity],
                case pick(Same) of
                    none -> {Name, element(At, Encoded)};
                    O -> {{opcode, beam_opcodes:opname(O)}, corrupt_beam:op({O, Args})}
                end;
            _ when Args =:= [] -> {delete, <<>>};
            _ ->
                I = rand:uniform(length(Args)),
                Old = lists:nth(I, Args),
                Arg = operand(Old, S, First, Last),
                {{operand, I, Old, Arg},
                 corrupt_beam:op({Op, lists:sublist(Args, I - 1) ++ [Arg] ++ lists:nthtail(I, Args)})}
        end,
    Name1 = element(1, beam_opcodes:opname(Op)),
    damage_code(N - 1, S, First, Last, [{At, Name1, W} | What],
                setelement(At, Encoded, iolist_to_binary(New))).

operand({list, L}, S, F, T) -> {list, list(L, S, F, T)};
operand({alloc, L}, _, _, _) ->
    case below(4) of
        0 -> {alloc, [pick(L) | L]};
        1 -> {0, edge()};
        2 -> {alloc, tl(L ++ [{0, 0}])};
        _ ->
            {K, N} = pick(L),
            {alloc, lists:keyreplace(K, 1, L, {pick([0, 1, 2, K]), near(N)})}
    end;
operand({tr, Reg, T}, S, First, Last) ->
    case below(6) of
        0 -> Reg;
        1 -> {tr, Reg, near(T)};
        _ ->
            case operand(Reg, S, First, Last) of
                {Tag, N} when is_integer(Tag) -> {tr, {Tag, N}, T};
                Other -> Other
            end
    end;
operand({Tag, N} = Old, S, First, Last) ->
    case below(10) of
        C when C < 3 -> {Tag, near(N)};
        C when C < 6 -> like(Old, S, First, Last, 20);
        6 -> any_of(S, First, Last);
        7 -> pick(S#seed.pool);
        8 -> {pick([0, 1, 2, 3, 4, 5, fr, lit]), N};
        9 -> {Tag, edge()}
    end.

near(N) when N < 64 -> pick([N + 1, max(0, N - 1), max(0, N - 2), N + 2, 0, 1, below(12)]);
near(N) -> pick([N + 1, N - 1, N div 2, N * 2, 0, below(N)]).

edge() ->
    pick([-1, 0, 1, 7, 15, 16, 31, 63, 64, 127, 128, 255, 256, 257, 1022, 1023, 1024, 2047, 2048,
          65534, 65535, 65536, 1 bsl 20, 1 bsl 24, (1 bsl 24) + 2, 1 bsl 27, 1 bsl 28, 1 bsl 31,
          1 bsl 32, (1 bsl 32) + 3, 1 bsl 40, 1 bsl 47, 1 bsl 56, (1 bsl 56) + 2, 1 bsl 59,
          1 bsl 60, 1 bsl 62, (1 bsl 63) - 1, 1 bsl 63, (1 bsl 64) - 1, 1 bsl 64, 1 bsl 80,
          -(1 bsl 59), -(1 bsl 63), -(1 bsl 64)]).

%% An operand of the same kind from the same function.
like(Old, _, _, _, 0) -> Old;
like(Old, S, First, Last, N) ->
    case any_of(S, First, Last) of
        A when A =/= Old, element(1, A) =:= element(1, Old) -> A;
        _ -> like(Old, S, First, Last, N - 1)
    end.

any_of(S, First, Last) ->
    case operands(element(First + below(Last - First + 1), S#seed.ops)) of
        [] -> pick(S#seed.pool);
        L -> pick(L)
    end.

list([], S, _, _) -> [pick(S#seed.pool)];
list(L, S, First, Last) ->
    I = rand:uniform(length(L)),
    {Before, [E | After]} = lists:split(I - 1, L),
    case below(8) of
        0 -> Before ++ After;
        1 -> Before ++ [E, E | After];
        2 -> [E | Before] ++ After;
        3 -> lists:droplast(L);
        _ -> Before ++ [operand(E, S, First, Last) | After]
    end.

%% Well-formed code only: what the verifier has to judge.
semantic(S) ->
    {First, Last} = pick(S#seed.functions),
    {What, New} = corrupt_semantic:mutate(S#seed.ops, First, Last),
    Old = tuple_to_list(S#seed.encoded),
    Encoded = lists:sublist(Old, First - 1) ++ [corrupt_beam:op(O) || O <- New] ++ lists:nthtail(Last, Old),
    {{semantic, First, What},
     corrupt_beam:file(put_chunk(<<"Code">>, corrupt_beam:code(S#seed.header, Encoded), S#seed.chunks))}.

%% ---- literals ----

literals(#seed{literals = []} = S) -> tables(S);
literals(#seed{literals = L} = S) ->
    I = rand:uniform(length(L)),
    {Before, [Old | After]} = lists:split(I - 1, L),
    {What, New} =
        case below(6) of
            0 -> {gone, Before ++ After};
            1 -> {flipped, Before ++ [flip(Old, 1 + below(3)) | After]};
            2 -> {cut, Before ++ [binary:part(Old, 0, below(byte_size(Old))) | After]};
            3 -> {swapped, Before ++ [pick(L) | After]};
            4 -> {forged, Before ++ [forged() | After]};
            5 ->
                T = term(),
                {{term, T}, Before ++ [term_to_binary(T) | After]}
        end,
    Count = pick([length(New), length(New), length(New), length(New), length(L), near(length(L))]),
    {{literal, I - 1, What},
     corrupt_beam:file(put_chunk(<<"LitT">>, corrupt_beam:literals(Count, New), S#seed.chunks))}.

term() ->
    pick([[], {}, #{}, <<>>, <<1:1>>, <<"abc">>, 0, -1, 1 bsl 59, 1 bsl 64, -(1 bsl 700), 1.5, 0.0,
          foo, [1 | 2], [a, b, c], "text", {a, {b}, [c]}, #{a => 1, b => #{}},
          maps:from_list([{N, N} || N <- lists:seq(1, 40)]), fun lists:map/2, fun nowhere:f/3,
          list_to_tuple(lists:seq(1, 300)), binary:copy(<<7>>, 200),
          lists:foldl(fun (_, T) -> [T] end, [], lists:seq(1, 3000))]).

%% External terms that are almost right.
forged() ->
    pick([<<131>>, <<>>, <<130, 106>>, <<131, 106, 106>>, <<131, 104, 255, 106>>,
          <<131, 105, 16#FFFFFFFF:32, 106>>, <<131, 108, 16#7FFFFFFF:32, 106>>,
          <<131, 108, 0:32, 106>>, <<131, 107, 0:16>>, <<131, 107, 16#FFFF:16, 1>>,
          <<131, 109, 16#FFFFFFFF:32>>, <<131, 77, 0:32, 3>>, <<131, 77, 1:32, 9, 0>>,
          <<131, 70, 16#7FF0000000000000:64>>, <<131, 70, 16#7FF8000000000000:64>>,
          <<131, 99, "1.5e400", 0:192>>, <<131, 110, 0, 0>>, <<131, 110, 8, 0, 0:64>>,
          <<131, 110, 2, 7, 1, 0>>, <<131, 111, 16#FFFFFFFF:32, 0>>, <<131, 110, 1, 1, 0>>,
          <<131, 116, 2:32, 97, 1, 97, 1, 97, 1, 97, 2>>, <<131, 116, 16#FFFFFFFF:32>>,
          <<131, 116, 1:32, 98, 1:32, 106>>, <<131, 98, 16#80000000:32>>, <<131, 82, 0>>,
          <<131, 113, 100, 1:16, "m", 100, 1:16, "f", 97, 255>>,
          <<131, 113, 100, 1:16, "m", 100, 1:16, "f", 98, 256:32>>,
          <<131, 118, 2:16, 255, 255>>, <<131, 119, 255>>, <<131, 100, 300:16, 0:2400>>,
          <<131, 88, 119, 13, "nonode@nohost", 1:32, 0:32, 0:32>>,
          <<131, 88, 119, 13, "nonode@nohost", 16#FFFFFFFF:32, 16#FFFFFFFF:32, 0:32>>,
          <<131, 90, 3:16, 119, 13, "nonode@nohost", 0:32, 1:32, 2:32, 3:32>>,
          <<131, 90, 9:16, 119, 1, "x", 0:32, 1:32, 2:32, 3:32>>,
          <<131, 120, 119, 13, "nonode@nohost", 5:64, 0:32>>,
          <<131, 112, 60:32, 3, 0:128, 0:32, 2:32, 119, 5, "lists", 97, 0, 97, 0,
            88, 119, 13, "nonode@nohost", 1:32, 0:32, 0:32, 97, 1, 97, 2>>,
          <<131, 112, 60:32, 255, 1:128, 0:32, 256:32, 119, 5, "lists", 97, 0, 97, 0>>,
          <<131, 80, 16#FFFFFFFF:32, (zlib:compress(binary:copy(<<106>>, 1000)))/binary>>,
          <<131, 80, 4:32, (zlib:compress(<<97, 1>>))/binary>>,
          <<131, 121, 1>>, <<131, 68, 0>>, <<131, 255>>]).

%% ---- tables ----

tables(S) ->
    case below(10) of
        N when N < 3 -> forge(<<"FunT">>, S);
        N when N < 5 -> forge(<<"ExpT">>, S);
        N when N < 7 -> forge(<<"ImpT">>, S);
        7 -> strings(S);
        8 -> atoms(S);
        9 -> forge(pick([<<"Line">>, <<"LocT">>, <<"Attr">>, <<"CInf">>, <<"Meta">>]), S)
    end.

forge(Id, S) ->
    case get_chunk(Id, S#seed.chunks) of
        <<>> -> code(S);
        Data when byte_size(Data) rem 4 =:= 0 ->
            Words = corrupt_beam:words(Data),
            I = rand:uniform(length(Words)),
            Old = lists:nth(I, Words),
            New = pick([near(Old), near(Old), pick(Words), pick(Words), edge() band 16#FFFFFFFF]),
            Forged = lists:sublist(Words, I - 1) ++ [New] ++ lists:nthtail(I, Words),
            {{Id, I, Old, New},
             corrupt_beam:file(put_chunk(Id, << <<W:32>> || W <- Forged >>, S#seed.chunks))};
        Data ->
            {{Id, flipped}, corrupt_beam:file(put_chunk(Id, flip(Data, 1 + below(4)), S#seed.chunks))}
    end.

strings(S) ->
    Old = get_chunk(<<"StrT">>, S#seed.chunks),
    New = pick([<<>>, binary:part(Old, 0, below(byte_size(Old) + 1)), binary:copy(Old, 2)]),
    {{<<"StrT">>, byte_size(New)}, corrupt_beam:file(put_chunk(<<"StrT">>, New, S#seed.chunks))}.

%% Never makes names of functions that do things outside.
atoms(S) ->
    {Count, Texts} = corrupt_beam:atoms(get_chunk(<<"AtU8">>, S#seed.chunks)),
    I = rand:uniform(Count),
    {Before, [Old | After]} = lists:split(I - 1, Texts),
    {What, New} =
        case below(6) of
            0 -> {gone, Before ++ After};
            1 -> {twice, Before ++ [Old, Old | After]};
            2 -> {other, Before ++ [pick(Texts) | After]};
            3 -> {empty, Before ++ [<<>> | After]};
            4 -> {no_utf8, Before ++ [<<255, 254>> | After]};
            5 -> {long, Before ++ [binary:copy(<<"x">>, 255) | After]}
        end,
    N = pick([length(New), length(New), Count, near(Count), edge() band 16#FFFFFFFF]),
    {{atom, I, What, N},
     corrupt_beam:file(put_chunk(<<"AtU8">>, corrupt_beam:atoms(N, New), S#seed.chunks))}.

types(S) ->
    case get_chunk(<<"Type">>, S#seed.chunks) of
        <<V:32, N:32, Rest/binary>> when byte_size(Rest) >= 18 ->
            New = case below(6) of
                      0 -> <<V:32, (near(N)):32, Rest/binary>>;
                      1 -> <<(near(V)):32, N:32, Rest/binary>>;
                      2 -> <<V:32, N:32, (binary:part(Rest, 0, below(byte_size(Rest))))/binary>>;
                      _ ->
                          At = 18 * below(byte_size(Rest) div 18),
                          <<A:At/binary, U:16, Min:64, Max:64, B/binary>> = Rest,
                          U1 = pick([U, 0, 1 bsl below(13), 64, 16#FFFF, below(65536)]),
                          M1 = pick([Min, 0, Max, edge() band 16#FFFFFFFFFFFFFFFF]),
                          M2 = pick([Max, 0, M1, edge() band 16#FFFFFFFFFFFFFFFF]),
                          <<V:32, N:32, A/binary, U1:16, M1:64, M2:64, B/binary>>
                  end,
            {types, corrupt_beam:file(put_chunk(<<"Type">>, New, S#seed.chunks))};
        _ -> code(S)
    end.

header(S) ->
    <<Version:32, Most:32, Labels:32, Functions:32, More/binary>> = S#seed.header,
    [V, M, L, F] = lists:sublist([Version, Most, Labels, Functions], 4),
    New = case below(5) of
              0 -> <<(near(V)):32, M:32, L:32, F:32, More/binary>>;
              1 -> <<V:32, (pick([0, 181, 255, edge()])):32, L:32, F:32, More/binary>>;
              2 -> <<V:32, M:32, (pick([near(L), edge()])):32, F:32, More/binary>>;
              3 -> <<V:32, M:32, L:32, (pick([near(F), edge()])):32, More/binary>>;
              4 -> binary:part(S#seed.header, 0, below(byte_size(S#seed.header)))
          end,
    Code = corrupt_beam:code(New, tuple_to_list(S#seed.encoded)),
    {header, corrupt_beam:file(put_chunk(<<"Code">>, Code, S#seed.chunks))}.

%% Code and tables together.
mixed(S) ->
    {What, Encoded} = damage_code(1, S),
    Code = iolist_to_binary(corrupt_beam:code(S#seed.header, Encoded)),
    {More, File} = tables(S#seed{chunks = put_chunk(<<"Code">>, Code, S#seed.chunks)}),
    {{What, More}, File}.

%% ---- the file as bytes ----

raw(#seed{file = File, chunks = Chunks}) ->
    Size = byte_size(File),
    case below(12) of
        0 -> {truncated, binary:part(File, 0, below(Size))};
        1 -> {flipped, flip(File, 1 + below(8))};
        2 -> {magic, flip_in(File, 0, 12)};
        3 ->
            {Id, _} = pick(Chunks),
            {{removed, Id}, corrupt_beam:file(lists:keydelete(Id, 1, Chunks))};
        4 ->
            C = pick(Chunks),
            {{twice, element(1, C)}, corrupt_beam:file(Chunks ++ [C])};
        5 ->
            {A, _} = pick(Chunks),
            {B, Data} = pick(Chunks),
            {{B, in_place_of, A}, corrupt_beam:file(put_chunk(A, Data, Chunks))};
        6 ->
            {Id, Data} = pick(Chunks),
            {{cut, Id}, corrupt_beam:file(put_chunk(Id, binary:part(Data, 0, below(byte_size(Data) + 1)), Chunks))};
        7 ->
            {Id, Data} = pick(Chunks),
            {{flipped, Id}, corrupt_beam:file(put_chunk(Id, flip(Data, 1 + below(6)), Chunks))};
        8 -> {compressed, zlib:gzip(File)};
        9 -> {compressed_flipped, flip(zlib:gzip(File), 1 + below(3))};
        10 ->
            {Id, _} = pick(Chunks),
            {At, _} = binary:match(File, Id),
            <<A:(At + 4)/binary, N:32, B/binary>> = File,
            New = pick([0, 1, N + 1, N - 1, N + 4, 1 bsl 31, (1 bsl 32) - 1, Size]),
            {{size, Id, New}, <<A/binary, New:32, B/binary>>};
        11 ->
            {Id, Data} = pick(Chunks),
            {{longer, Id}, corrupt_beam:file(put_chunk(Id, [Data, rand:bytes(1 + below(40))], Chunks))}
    end.

flip(<<>>, _) -> <<0>>;
flip(Bin, 0) -> Bin;
flip(Bin, N) -> flip(flip_in(Bin, 0, byte_size(Bin)), N - 1).

flip_in(Bin, From, Length) ->
    At = From + below(min(Length, byte_size(Bin) - From)),
    <<A:At/binary, Byte, B/binary>> = Bin,
    New = case below(3) of
              0 -> Byte bxor (1 bsl below(8));
              1 -> (Byte + 16) band 255;
              2 -> below(256)
          end,
    <<A/binary, New, B/binary>>.
