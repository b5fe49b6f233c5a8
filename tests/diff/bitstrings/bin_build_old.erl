%% Bit strings built by the instructions that compilers before OTP 25 emit.
-module(bin_build_old).
-compile(r24).
-export([main/0]).
main() ->
    Vs = [0, 1, -1, 255, 1 bsl 40, -(1 bsl 70), 1.5, a, <<1, 2, 3>>, <<5:3>>, 16#20AC, 16#1F600, 16#D800, <<>>],
    [t:pc({N, V}, fun() -> build(N, V) end) || N <- lists:seq(1, 22), V <- Vs],
    Sizes = [0, 3, 8, 64, -1, a, 1 bsl 70],
    [t:pc({sized, N, S}, fun() -> sized(N, S) end) || N <- [1, 2, 3, 4], S <- Sizes],
    t:p([guard(V) || V <- Vs]),
    t:p(<< <<(X + 1):5>> || <<X:3>> <= <<1, 2, 3, 4, 5, 6>> >>),
    t:p(<< <<X/utf8>> || X <- [$a, 16#E5, 16#20AC] >>),
    Long = lists:foldl(fun(X, Acc) -> <<Acc/binary, X:32, "..">> end, <<>>, lists:seq(1, 500)),
    t:p({byte_size(Long), erlang:phash2(Long)}),
    Twice = <<Long/binary, 1>>,
    t:p({erlang:phash2(<<Long/binary, 2>>), erlang:phash2(Twice)}),
    t:p({maps(#{abc => 1}), maps(#{jkl => 1}), maps(#{}), maps(#{abc => 1, mno => 2, jkl => 3})}).

build(1, V) -> <<V>>;
build(2, V) -> <<V:17>>;
build(3, V) -> <<V:70/little>>;
build(4, V) -> <<"ab", V:16/little-signed, "c">>;
build(5, V) -> <<V/float>>;
build(6, V) -> <<1:1, V:32/float-little>>;
build(7, V) -> <<V/binary>>;
build(8, V) -> <<V/bitstring, 7:3>>;
build(9, V) -> <<3:3, V/bitstring>>;
build(10, V) -> <<V:2/binary, 0>>;
build(11, V) -> <<V:2/binary-unit:4>>;
build(12, V) -> <<V/utf8>>;
build(13, V) -> <<1, V/utf16>>;
build(14, V) -> <<1:4, V/utf16-little>>;
build(15, V) -> <<V/utf32>>;
build(16, V) -> <<V/utf32-little, "x">>;
build(17, V) -> <<V/binary, V/binary>>;
build(18, V) -> <<V/bitstring, "tail", V/bitstring>>;
build(19, V) -> {<<V:8>>, <<V:9>>, [V | <<V:10/native>>]};
build(20, V) -> <<V:16/float>>;
build(21, V) -> <<(byte_size(V)):8, V/binary>>;
build(22, V) -> <<(-1):17, V/bitstring, (-1):5>>.

sized(1, S) -> <<7:S>>;
sized(2, S) -> <<1:3, 7:S/unit:4, "x">>;
sized(3, S) -> B = list_to_binary("abcdefghijkl"), <<B:S/binary>>;
sized(4, S) -> B = <<"abcdefghijkl">>, <<B:S/binary, 2:S>>.

guard(V) when <<V:16>> == <<0, 255>> -> small;
guard(V) when <<V/binary, 9>> == <<1, 2, 3, 9>> -> binary;
guard(V) when <<V/float>> == <<1.5/float>> -> float;
guard(_) -> other.

%% The compiler knows that these are maps.
maps(M) ->
    case case Abc = is_map_key(abc, M) of false -> false; _ -> is_map_key(def, M) end of
        true -> def;
        false ->
            case case Jkl = is_map_key(jkl, M) of false -> false; _ -> is_map_key(def, M) end of
                true -> ghi;
                false ->
                    case case Abc of false -> false; _ -> is_map_key(mno, M) end of
                        true -> mno;
                        false -> case Jkl of true -> jkl; false -> none end
                    end
            end
    end.
%% until 28
