%% Starts OTP's inets httpd and cowboy, with a handler of each kind, for web.case.
-module(web_servers).
-export([main/1, init/2, websocket_handle/2, websocket_info/2]).

main([Httpd, Clear, Tls]) ->
    {ok, Dir} = file:get_cwd(),
    {ok, _} = application:ensure_all_started(inets),
    {ok, _} = application:ensure_all_started(cowboy),
    {ok, _} = inets:start(httpd, [{port, list_to_integer(Httpd)}, {bind_address, {127, 0, 0, 1}},
        {server_name, "localhost"}, {server_root, Dir}, {document_root, filename:join(Dir, "www")},
        {modules, [mod_alias, mod_auth, mod_dir, mod_get, mod_head, mod_range]},
        {directory_index, ["index.html"]}, {mime_types, [{"html", "text/html"}, {"bin", "application/octet-stream"}]}]),
    Dispatch = cowboy_router:compile([{'_', [
        {"/echo", ?MODULE, echo}, {"/chunks/:count", ?MODULE, chunks}, {"/ws", ?MODULE, websocket},
        {"/crash", ?MODULE, crash}, {"/sum", ?MODULE, sum},
        {"/files/[...]", cowboy_static, {dir, filename:join(Dir, "www")}}]}]),
    Options = #{env => #{dispatch => Dispatch}, stream_handlers => [cowboy_compress_h, cowboy_stream_h]},
    {ok, _} = cowboy:start_clear(clear, [{ip, {127, 0, 0, 1}}, {port, list_to_integer(Clear)}], Options),
    {ok, _} = cowboy:start_tls(tls, [{ip, {127, 0, 0, 1}}, {port, list_to_integer(Tls)},
        {certfile, "cert.pem"}, {keyfile, "key.pem"}], Options),
    file:write_file("ready", <<>>).

init(Req, websocket) ->
    {cowboy_websocket, Req, 0, #{compress => true, max_frame_size => 4000000}};
init(Req, crash) ->
    error({crash, cowboy_req:method(Req)});
init(Req0, echo) ->
    {Body, Req} = body(Req0, []),
    {ok, cowboy_req:reply(200, #{<<"content-type">> => <<"text/plain">>},
        [cowboy_req:method(Req), " ", cowboy_req:qs(Req), " ", atom_to_binary(cowboy_req:version(Req)), " ", Body], Req), echo};
init(Req0, sum) ->
    {Body, Req} = body(Req0, []),
    Hash = binary:encode_hex(crypto:hash(sha256, Body)),
    {ok, cowboy_req:reply(200, #{}, [integer_to_binary(iolist_size(Body)), " ", Hash], Req), sum};
init(Req0, chunks) ->
    Req = cowboy_req:stream_reply(200, #{}, Req0),
    Count = binary_to_integer(cowboy_req:binding(count, Req)),
    [cowboy_req:stream_body(["chunk ", integer_to_list(N), "\n"], nofin, Req) || N <- lists:seq(1, Count)],
    cowboy_req:stream_body(<<"end\n">>, fin, Req),
    {ok, Req, chunks}.

body(Req0, Parts) ->
    case cowboy_req:read_body(Req0) of
        {ok, Part, Req} -> {[Parts, Part], Req};
        {more, Part, Req} -> body(Req, [Parts, Part])
    end.

websocket_handle({text, <<"later">>}, N) ->
    erlang:send_after(20, self(), later),
    {[], N};
websocket_handle({Kind, Data}, N) when Kind =:= text; Kind =:= binary ->
    {[{Kind, Data}, {text, integer_to_binary(N)}], N + 1};
websocket_handle(_, N) ->
    {[], N}.

websocket_info(later, N) ->
    {[{text, <<"now">>}], N}.
