%% Web servers to measure: cowboy, and inets' httpd. Each answers
%%
%%   /plain   a short text
%%   /json    9 KB of JSON, encoded anew for each request
%%   /ws      a WebSocket that echoes (cowboy)
%%
%%   erl -noshell -run lab_server cowboy 8080
%%   erl -noshell -run lab_server cowboy_tls 8443
%%   erl -noshell -run lab_server inets 8080
-module(lab_server).
-export([cowboy/1, cowboy_tls/1, inets/1]).
-export([init/2, websocket_handle/2, websocket_info/2, do/1]).

cowboy([Port]) ->
    {ok, _} = application:ensure_all_started(cowboy),
    {ok, _} = cowboy:start_clear(lab, transport(Port, []), protocol()).

cowboy_tls([Port]) ->
    {ok, _} = application:ensure_all_started(cowboy),
    {ok, _} = application:ensure_all_started(ssl),
    {ok, _} = cowboy:start_tls(lab, transport(Port, certificate()), protocol()).

transport(Port, Options) ->
    #{max_connections => infinity, num_acceptors => 10,
      socket_opts => [{ip, {127, 0, 0, 1}}, {port, list_to_integer(Port)}, {backlog, 4096} | Options]}.

%% No connection is ever closed for its age.
protocol() ->
    Paths = [{"/plain", ?MODULE, plain}, {"/json", ?MODULE, json}, {"/ws", ?MODULE, websocket}],
    #{env => #{dispatch => cowboy_router:compile([{'_', Paths}])},
      max_keepalive => infinity, request_timeout => infinity, idle_timeout => infinity}.

%% A certificate of the usual kind, made by OTP.
certificate() ->
    Options = [{key, {namedCurve, secp256r1}}, {digest, sha256}],
    Chain = #{root => Options, intermediates => [], peer => Options},
    #{server_config := Config} =
        public_key:pkix_test_data(#{server_chain => Chain, client_chain => Chain}),
    lists:keydelete(cacerts, 1, Config).

init(Req, websocket) ->
    {cowboy_websocket, Req, [], #{idle_timeout => infinity}};
init(Req, What) ->
    {Type, Body} = content(What),
    {ok, cowboy_req:reply(200, #{<<"content-type">> => list_to_binary(Type)}, Body, Req), What}.

websocket_handle({Kind, Data}, State) when Kind =:= text; Kind =:= binary ->
    {[{Kind, Data}], State};
websocket_handle(_, State) ->
    {[], State}.

websocket_info(_, State) ->
    {[], State}.

content(plain) ->
    {"text/plain", <<"Hello, World!">>};
content(json) ->
    {"application/json", lab_json:encode(#{<<"items">> => [item(N) || N <- lists:seq(1, 66)]})}.

item(N) ->
    #{<<"id">> => N, <<"name">> => <<"an item with a name">>, <<"price">> => N * 1.25,
      <<"tags">> => [<<"red">>, <<"green">>, <<"blue">>], <<"available">> => N rem 2 =:= 0,
      <<"text">> => <<"Some words that say what it is.">>}.

inets([Port]) ->
    {ok, _} = application:ensure_all_started(inets),
    {ok, Dir} = file:get_cwd(),
    {ok, _} = inets:start(httpd, [{port, list_to_integer(Port)}, {bind_address, {127, 0, 0, 1}},
        {server_name, "localhost"}, {server_root, Dir}, {document_root, Dir}, {modules, [?MODULE]},
        {max_clients, 10000}, {max_keep_alive_request, 1 bsl 40}, {keep_alive_timeout, 3600}]).

%% What inets calls for a request: a record `mod`, whose ninth element is the path.
do(Request) ->
    {Type, Body} = content(case element(9, Request) of "/json" -> json; "/plain" -> plain end),
    Text = iolist_to_binary(Body),
    Length = integer_to_list(byte_size(Text)),
    {proceed, [{response, {response, [{code, 200}, {content_type, Type}, {content_length, Length}], [Text]}}]}.
