%% External terms with bytes changed, cut and added: what is read, and what refused.
-module(prop_etf_hostile).
-export([main/0]).
main() ->
    g:seed(13), g:digest(changed, g:times(2500, fun(_) -> B = mutate(enc()), {B, r(B, [])} end)), g:digest(safe, g:times(600, fun(_) -> B = mutate(enc()), {B, r(B, [safe])} end)), g:digest(used, g:times(400, fun(_) -> B = <<(enc())/binary, (g:bin(5))/binary>>, {B, r(B, [used])} end)), g:digest(cut, g:times(400, fun(_) -> B = enc(), C = binary:part(B, 0, g:int(byte_size(B))), {C, r(C, [])} end)), g:digest(random, g:times(2000, fun(_) -> B = <<131, (g:one([70, 77, 78, 82, 88, 89, 90, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 118, 119])), (g:bin(14))/binary>>, {B, r(B, [])} end)).
enc() ->
    T = g:term(3), case g:int(4) of 0 -> term_to_binary(T, [compressed]); 1 -> term_to_binary(T, [{minor_version, 1}]); _ -> term_to_binary(T) end.
mutate(B) -> N = g:int(byte_size(B)), <<A:N/binary, X, C/binary>> = B, case g:int(4) of 0 -> <<A/binary, C/binary>>; 1 -> <<A/binary, X, X, C/binary>>; 2 -> <<A/binary, (X bxor (1 bsl g:int(8))), C/binary>>; 3 -> <<A/binary, (g:int(256)), C/binary>> end.
%% The two tags of the machine's own tables are left out.
r(B0, O) -> B = << <<(case X of 73 -> 97; 75 -> 97; _ -> X end)>> || <<X>> <= B0 >>, try t:plain(binary_to_term(B, O)) catch _:R -> R end.
