%% Loads every NIF library and linked-in driver of the Erlang packages that are installed, and
%% uses some. Prints what came of each; the output is the same on every machine that has the
%% same packages.
-module(libraries).
-export([main/0]).

main() ->
    Libraries = lists:usort([L || Dir <- code:get_path(), L <- of_application(Dir)]),
    Found = [found(L) || L <- Libraries],
    [io:format("~s: ~0p~n", [short(L), R]) || {L, R} <- lists:zip(Libraries, Found)],
    io:format("~p libraries~n", [length(Libraries)]),
    [use(M, F) || {M, F} <- uses(), code:which(M) =/= non_existing],
    io:format("done~n"),
    halt().

%% The libraries in an application's priv.
of_application(Ebin) ->
    filelib:wildcard(filename:join([filename:dirname(Ebin), "priv", "**", "*.so"])).
short(Library) ->
    Application = lists:takewhile(fun(Part) -> Part =/= "priv" end, filename:split(Library)),
    filename:join(lists:last(Application), filename:basename(Library)).

%% What it is, and what loading it answers. A NIF library belongs to a module: for another one it
%% is opened and looked at, and then refused.
found(Library) ->
    {ok, Bytes} = file:read_file(Library),
    Has = fun(Symbol) -> binary:match(Bytes, <<0, Symbol/binary, 0>>) =/= nomatch end,
    case {Has(<<"nif_init">>), Has(<<"driver_init">>)} of
        {true, _} -> {nif, erlang:load_nif(filename:rootname(Library), 0)};
        {_, true} -> {driver, driver(Library)};
        _ -> neither
    end.

driver(Library) ->
    Dir = filename:dirname(Library),
    Name = filename:basename(Library, ".so"),
    case erl_ddll:load_driver(Dir, Name) of
        ok ->
            {ok, All} = erl_ddll:loaded_drivers(),
            {ok, lists:member(Name, All), erl_ddll:unload_driver(Name)};
        {error, E} ->
            {error, lists:flatten(erl_ddll:format_error(E))}
    end.

use(Module, F) ->
    Result = try F() catch Class:Reason -> {Class, Reason} end,
    io:format("~p: ~0p~n", [Module, Result]).
failure(F) ->
    try F() of Value -> {value, Value} catch Class:Reason -> {Class, Reason} end.

uses() ->
    [{jiffy, fun json/0}, {ezlib, fun zlib_stream/0}, {fxml_stream, fun xml/0},
     {stringprep, fun prepared/0}, {p1_sha, fun sha/0}, {fast_yaml, fun yaml/0},
     {iconv, fun converted/0}, {mqtree, fun topics/0}, {jid, fun jid/0},
     {ets_cache, fun cached/0}, {bitcask, fun key_value_store/0}, {sqlite3, fun database/0},
     {xmpp_uri, fun uri/0}, {xmpp_lang, fun lang/0}, {megaco_flex_scanner, fun megaco/0}].

json() ->
    Big = lists:seq(1, 20000),
    T = {[{<<"a">>, [1, 2.5, true, null, -3]}, {<<"ü"/utf8>>, {[]}}]},
    {iolist_to_binary(jiffy:encode(T)), jiffy:decode(jiffy:encode(T), [return_maps]),
     jiffy:decode(jiffy:encode(Big)) =:= Big,
     failure(fun() -> jiffy:decode(<<"{\"a\": ">>) end), failure(fun() -> jiffy:encode({a, b}) end)}.

%% Compressed streams over a socket.
zlib_stream() ->
    _ = application:ensure_all_started(fast_tls),
    {ok, _} = application:ensure_all_started(ezlib),
    {ok, L} = gen_tcp:listen(0, [binary, {active, false}, {ip, {127, 0, 0, 1}}]),
    {ok, Port} = inet:port(L),
    {ok, A} = gen_tcp:connect({127, 0, 0, 1}, Port, [binary, {active, false}]),
    {ok, B} = gen_tcp:accept(L),
    {ok, Z} = ezlib:enable_zlib(gen_tcp, A),
    {ok, Y} = ezlib:enable_zlib(gen_tcp, B),
    Bytes = binary:copy(<<"compressed ">>, 500),
    ok = ezlib:send(Z, Bytes),
    R = received(Y, byte_size(Bytes), <<>>),
    {R =:= Bytes, ezlib:close(Z), ezlib:close(Y)}.
received(_, N, Done) when byte_size(Done) >= N ->
    Done;
received(S, N, Done) ->
    case ezlib:recv(S, 0, 5000) of
        {ok, Bytes} -> received(S, N, <<Done/binary, Bytes/binary>>);
        Other -> {Other, Done}
    end.

xml() ->
    {ok, _} = application:ensure_all_started(fast_xml),
    Text = <<"<a x='1'><b>text &amp; more</b><c/></a>">>,
    El = fxml_stream:parse_element(Text),
    S = fxml_stream:new(self()),
    S1 = fxml_stream:parse(S, <<"<stream><one/><two a='b'>t</tw">>),
    S2 = fxml_stream:parse(S1, <<"o></stream>">>),
    fxml_stream:close(S2),
    {El, fxml:element_to_binary(El), fxml_stream:parse_element(<<"<a><b></a>">>), flush()}.
flush() ->
    receive M -> [M | flush()] after 0 -> [] end.

prepared() ->
    {ok, _} = application:ensure_all_started(stringprep),
    [{F, [stringprep:F(S) || S <- [<<"ABC">>, <<"Straße"/utf8>>, <<"a b">>, <<255>>]]}
     || F <- [tolower, nameprep, nodeprep, resourceprep]].

sha() ->
    p1_sha:load_nif(),
    {p1_sha:sha(<<"text">>), p1_sha:to_hexlist(p1_sha:sha256(<<"text">>))}.

yaml() ->
    {ok, _} = application:ensure_all_started(fast_yaml),
    Text = "a: 1\nb:\n  - x\n  - 2.5\n  - \"q\"\nc: {d: e}\n",
    {fast_yaml:decode(Text), fast_yaml:decode("a: [1"), fast_yaml:encode([{a, [1, <<"b">>]}])}.

converted() ->
    {ok, _} = application:ensure_all_started(iconv),
    {iconv:convert("utf-8", "iso-8859-1", <<"ü"/utf8>>),
     iconv:convert("cp1252", "utf-8", <<128>>)}.

topics() ->
    {ok, _} = application:ensure_all_started(mqtree),
    T = mqtree:new(),
    ok = mqtree:insert(T, <<"a/b/c">>),
    ok = mqtree:insert(T, <<"a/+/c">>),
    ok = mqtree:insert(T, <<"#">>),
    ok = mqtree:insert(T, <<"x/y">>),
    {lists:sort(mqtree:match(T, <<"a/b/c">>)), mqtree:size(T), mqtree:refc(T, <<"a/+/c">>),
     mqtree:delete(T, <<"x/y">>), mqtree:is_empty(T),
     mqtree:register(tree, T), mqtree:whereis(tree) =:= T}.

jid() ->
    {ok, _} = application:ensure_all_started(xmpp),
    {jid:decode(<<"User@Host.example/Res">>), failure(fun() -> jid:decode(<<"@bad">>) end),
     jid:to_string(jid:make(<<"a">>, <<"b">>, <<"c">>))}.
uri() ->
    {xmpp_uri:check(<<"http://example.org/x">>), failure(fun() -> xmpp_uri:check(<<"nothing">>) end)}.
lang() ->
    {xmpp_lang:check(<<"en-GB">>), failure(fun() -> xmpp_lang:check(<<"no language">>) end)}.

cached() ->
    {ok, _} = application:ensure_all_started(cache_tab),
    ok = ets_cache:new(items, [{max_size, 100}, {life_time, infinity}]),
    Get = fun(N) -> ets_cache:lookup(items, N, fun() -> {ok, N * N} end) end,
    R = [Get(N) || N <- [1, 2, 3, 2]],
    {R, ets:info(items, size), ets_cache:delete(items, 2), ets:info(items, size)}.

key_value_store() ->
    Dir = "bitcask_data",
    S = bitcask:open(Dir, [read_write]),
    [ok = bitcask:put(S, <<"key", N:16>>, binary:copy(<<N:16>>, N)) || N <- lists:seq(1, 500)],
    ok = bitcask:delete(S, <<"key", 7:16>>),
    Sum = bitcask:fold(S, fun(_, V, N) -> N + byte_size(V) end, 0),
    R = {bitcask:get(S, <<"key", 9:16>>), bitcask:get(S, <<"key", 7:16>>), Sum},
    ok = bitcask:close(S),
    Again = bitcask:open(Dir),
    Count = length(bitcask:list_keys(Again)),
    bitcask:close(Again),
    {R, Count}.

database() ->
    {ok, D} = sqlite3:open(db, [in_memory]),
    ok = sqlite3:create_table(D, items, [{id, integer, [primary_key]}, {name, text}, {x, double}]),
    W = [sqlite3:write(D, items, [{name, <<"item">>}, {x, N / 4}]) || N <- lists:seq(1, 3)],
    R = sqlite3:sql_exec(D, "select id, name, x from items order by id"),
    E = sqlite3:sql_exec(D, "select nothing"),
    C = sqlite3:close(D),
    {W, R, E, C}.

megaco() ->
    {ok, Port} = megaco_flex_scanner:start(),
    Text = "MEGACO/1 [124.124.124.222] Transaction=9998{Context=-{ServiceChange=ROOT{"
           "Services{Method=Restart,ServiceChangeAddress=55555,Profile=ResGW/1}}}}",
    R = megaco_flex_scanner:scan(list_to_binary(Text), Port),
    {R, megaco_flex_scanner:stop(Port)}.
