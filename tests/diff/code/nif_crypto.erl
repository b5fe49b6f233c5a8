%% crypto, asn1rt_nif and public_key: libraries of NIFs. Where the machine under test has no crypto
%% there is nothing to compare, and the program says what it would have said.
-module(nif_crypto).
-export([main/0]).

main() ->
    case code:ensure_loaded(crypto) of
        {module, crypto} -> [line(N, check(F)) || {N, F} <- tests()];
        {error, nofile} -> [line(N, true) || {N, _} <- tests()]
    end.

line(Name, Result) -> io:format("~s ~0p~n", [Name, Result]).

check(F) -> try F() catch C:R:S -> {C, R, S} end.

h(B) -> binary:encode_hex(iolist_to_binary(B)).

tests() ->
    [{"hash", fun hashes/0}, {"pieces", fun pieces/0}, {"mac", fun macs/0},
     {"cipher", fun ciphers/0}, {"aead", fun aead/0}, {"rand", fun rand/0},
     {"numbers", fun numbers/0}, {"keys", fun keys/0}, {"signatures", fun signatures/0},
     {"errors", fun errors/0}, {"long", fun long/0}, {"many", fun many/0},
     {"loaded", fun loaded/0}, {"asn1", fun asn1/0}, {"pem", fun pem/0}].

hashes() ->
    h(crypto:hash(md5, "abc")) =:= <<"900150983CD24FB0D6963F7D28E17F72">>
        andalso h(crypto:hash(sha, ["a", <<"bc">>]))
                =:= <<"A9993E364706816ABA3E25717850C26C9CD0D89D">>
        andalso crypto:hash(sha256, odd(<<"abc">>)) =:= crypto:hash(sha256, "abc").

%% The same bytes, not at a whole byte of their binary.
odd(B) ->
    N = byte_size(B),
    <<_:3, Odd:N/binary, _/bits>> = <<5:3, B/binary, 0:5>>,
    Odd.

pieces() ->
    S = lists:foldl(fun(P, S) -> crypto:hash_update(S, P) end, crypto:hash_init(sha256),
                    [<<"abc">>, [<<"d">>, $e], odd(<<"fgh">>)]),
    crypto:hash_final(S) =:= crypto:hash(sha256, "abcdefgh").

macs() ->
    h(crypto:mac(hmac, sha256, "key", "data"))
        =:= <<"5031FE3D989C6D1537A013FA6E739DA23463FDAEC3B70137D828E36ACE221BD0">>
        andalso h(crypto:mac(cmac, aes_128_cbc, <<0:128>>, "data"))
                =:= <<"962D1A2D4F65982A677A97ED70E88B33">>.

ciphers() ->
    lists:all(
      fun(C) ->
              #{key_length := K, iv_length := I} = crypto:cipher_info(C),
              {Key, Iv} = {<<1:(K * 8)>>, <<2:(I * 8)>>},
              Text = <<"0123456789abcdef0123456789abcdef">>,
              E = crypto:crypto_one_time(C, Key, Iv, Text, true),
              S = crypto:crypto_init(C, Key, Iv, true),
              Parts = [crypto:crypto_update(S, P) || P <- [binary:part(Text, 0, 5), odd(binary:part(Text, 5, 27))]]
                  ++ [crypto:crypto_final(S)],
              iolist_to_binary(Parts) =:= E
                  andalso E =/= Text
                  andalso crypto:crypto_one_time(C, Key, Iv, E, false) =:= Text
      end, [aes_128_cbc, aes_256_cbc, aes_256_ctr, aes_192_ctr]).

aead() ->
    {Key, Iv} = {<<1:256>>, <<2:96>>},
    {E, Tag} = crypto:crypto_one_time_aead(aes_256_gcm, Key, Iv, "hello", "aad", true),
    {h(E), h(Tag)} =:= {<<"3E8A6F3DFF">>, <<"92F1DB70AC9070BF093048A11BE395DB">>}
        andalso crypto:crypto_one_time_aead(aes_256_gcm, Key, Iv, E, "aad", Tag, false)
                =:= <<"hello">>
        andalso crypto:crypto_one_time_aead(aes_256_gcm, Key, Iv, E, "add", Tag, false)
                =:= error.

rand() ->
    byte_size(crypto:strong_rand_bytes(33)) =:= 33
        andalso crypto:strong_rand_bytes(16) =/= crypto:strong_rand_bytes(16)
        andalso is_float(element(1, rand:uniform_s(crypto:rand_seed_s()))).

numbers() ->
    h(crypto:mod_pow(12345678901234567890123, 98765432109876543210, 1 bsl 128 - 159))
        =:= <<"6A56B97A1BDCD95D877207667FC9202E">>
        andalso crypto:exor("abc", "xyz") =:= <<25, 27, 25>>.

keys() ->
    lists:all(
      fun({Kind, Curve}) ->
              {Pa, Sa} = crypto:generate_key(Kind, Curve),
              {Pb, Sb} = crypto:generate_key(Kind, Curve),
              crypto:compute_key(Kind, Pa, Sb, Curve) =:= crypto:compute_key(Kind, Pb, Sa, Curve)
      end, [{ecdh, secp256r1}, {ecdh, secp384r1}, {eddh, x25519}]).

signatures() ->
    {P, S} = crypto:generate_key(rsa, {1024, 65537}),
    Sig = crypto:sign(rsa, sha256, "m", S),
    {Q, T} = crypto:generate_key(eddsa, ed25519),
    Edd = crypto:sign(eddsa, none, "m", [T, ed25519]),
    crypto:verify(rsa, sha256, "m", Sig, P)
        andalso not crypto:verify(rsa, sha256, "n", Sig, P)
        andalso crypto:verify(eddsa, none, "m", Edd, [Q, ed25519])
        andalso not crypto:verify(eddsa, none, "n", Edd, [Q, ed25519]).

errors() ->
    A = try crypto:hash(sha, not_data) catch error:R1 -> R1 end,
    B = try crypto:crypto_one_time(aes_128_cbc, <<1>>, <<2:128>>, "x", true)
        catch error:R2:S -> {element(1, R2), element(2, hd(S)), length(element(3, hd(S)))}
        end,
    A =:= badarg andalso B =:= {badarg, crypto_one_time, 5}.

%% Long data is hashed in several calls, between which others run.
long() ->
    B = binary:copy(<<"x">>, 3_000_000),
    Half = binary:part(B, 0, 1_500_000),
    S = crypto:hash_update(crypto:hash_init(sha256), Half),
    crypto:hash(sha256, B) =:= crypto:hash_final(crypto:hash_update(S, Half))
        andalso crypto:mac(hmac, sha256, "k", B) =:= crypto:macN(hmac, sha256, "k", B, 32).

many() ->
    Work = fun() ->
                   S = crypto:hash_init(sha256),
                   exit(length([crypto:hash_update(S, <<X:8000>>) || X <- lists:seq(1, 1000)]))
           end,
    Ps = [spawn_monitor(Work) || _ <- lists:seq(1, 4)],
    [receive {'DOWN', M, _, _, R} -> R end || {_, M} <- Ps] =:= [1000, 1000, 1000, 1000].

loaded() ->
    lists:member({hash_nif, 2}, crypto:module_info(nifs))
        andalso not lists:member({hash, 2}, crypto:module_info(nifs)).

%% What follows takes libraries that come with others.
asn1() ->
    case code:ensure_loaded(asn1rt_nif) of
        {module, _} ->
            asn1rt_nif:decode_ber_tlv(<<48, 3, 2, 1, 5>>) =:= {{16, [{2, <<5>>}]}, <<>>};
        {error, nofile} ->
            true
    end.

pem() ->
    case code:ensure_loaded(public_key) of
        {module, _} ->
            K = public_key:generate_key({rsa, 1024, 65537}),
            Plain = public_key:pem_entry_encode('RSAPrivateKey', K),
            Salt = {"AES-128-CBC", <<1:128>>},
            Locked = public_key:pem_entry_encode('RSAPrivateKey', K, {Salt, "pw"}),
            [P, L] = public_key:pem_decode(public_key:pem_encode([Plain, Locked])),
            public_key:pem_entry_decode(P) =:= K
                andalso public_key:pem_entry_decode(L, "pw") =:= K;
        {error, nofile} ->
            true
    end.
