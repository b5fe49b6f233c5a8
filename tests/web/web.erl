%% The live page under bad use. One node serves the page (`node`); another (the cases) asks it for all
%% kinds of things. Cases print how often a process beside them ticked, and `ok`.
-module(web).
-export([main/1]).

%% What a browser that took it for HTML would ask for.
-define(NAME, '<img src=x>').

main(["node", Processes]) -> node_(list_to_integer(Processes));
main(["api"]) -> api(), done();
main([Case, Address]) ->
    Ticker = ticker(),
    web(list_to_atom(Case), parse(Address)),
    {Ticks, _} = ticks(Ticker),
    io:format("ticks ~b~n", [Ticks]),
    done().

done() -> io:format("ok~n"), halt().

%% ---- the node: a process that ticks, two that talk, many that wait ----

node_(Processes) ->
    [spawn(fun() -> receive stop -> ok end end) || _ <- lists:seq(1, Processes)],
    Full = spawn(fun() -> receive stop -> ok end end),
    [Full ! {message, I} || I <- lists:seq(1, 1000)],
    %% Names are the program's own, and may look like anything.
    register(?NAME, Full),
    Pong = spawn(fun pong/0),
    spawn(fun() -> ping(Pong) end),
    lines(ticker()).

%% Says how often it ticked since it was asked last, how late it was at most, and how many files the
%% program has open. `hog` keeps all but the most urgent from running, for some seconds:
%% one on each scheduler.
lines(Ticker) ->
    case io:get_line("") of
        "report\n" ->
            {Ticks, Late} = ticks(Ticker),
            {ok, Files} = file:list_dir("/proc/self/fd"),
            io:format("report ~b ~b ~b~n", [Ticks, Late, length(Files)]);
        "hog\n" ->
            End = now_ms() + 4000,
            [spawn_opt(fun() -> hog(End) end, [{priority, max}, {scheduler, I}])
             || I <- lists:seq(1, erlang:system_info(schedulers))];
        eof ->
            halt()
    end,
    lines(Ticker).

hog(End) ->
    case now_ms() < End of
        true -> hog(End);
        false -> ok
    end.

ticker() -> spawn(fun() -> tick(now_ms(), 0, 0) end).
ticks(Ticker) ->
    Ticker ! {report, self()},
    receive {ticked, N, Late} -> {N, Late} end.

tick(Last, N, Late) ->
    receive {report, To} -> To ! {ticked, N, Late}, tick(now_ms(), 0, 0)
    after 10 ->
        Now = now_ms(),
        tick(Now, N + 1, max(Late, Now - Last - 10))
    end.

ping(Pong) -> Pong ! self(), receive pong -> ping(Pong) end.
pong() -> receive From -> From ! pong, pong() end.

now_ms() -> erlang:monotonic_time(millisecond).

%% ---- kvik:web/1 ----

api() ->
    Bad = [foo, [], {ok, 1}, #{port => -1}, #{port => 65536}, #{port => "80"}, #{port => 1 bsl 70},
           #{ip => {1, 2, 3}}, #{ip => {1, 2, 3, 256}}, #{ip => "127.0.0.1"}, #{ip => foo},
           #{color => red}, #{ip => {0, 0, 0, 0, 0, 0, 0, 65536}}, #{1 => 2}],
    [{X, badarg} = {X, try kvik:web(X) catch error:E -> E end} || X <- Bad],
    {error, not_started} = kvik:web(stop),
    {ok, A} = kvik:web(#{}),
    <<"http://127.0.0.1:", _/binary>> = A,
    {error, {already_started, A}} = kvik:web(#{}),
    {_, Port, Token} = parse(binary_to_list(A)),
    32 = length(Token),
    200 = status({"127.0.0.1", Port, Token}, req([$/, Token, "/"])),
    ok = kvik:web(stop),
    {error, econnrefused} = gen_tcp:connect("127.0.0.1", Port, []),
    %% The same address at once again, with another token.
    {ok, B} = kvik:web(#{ip => loopback, port => Port}),
    {_, Port, Other} = parse(binary_to_list(B)),
    true = Other =/= Token,
    403 = status({"127.0.0.1", Port, Token}, req([$/, Token, "/"])),
    ok = kvik:web(stop),
    {ok, L} = gen_tcp:listen(0, [{ip, {127, 0, 0, 1}}]),
    {ok, Taken} = inet:port(L),
    {error, eaddrinuse} = kvik:web(#{port => Taken}),
    {error, eaddrnotavail} = kvik:web(#{ip => {192, 0, 2, 1}}),
    {ok, <<"http://0.0.0.0:", _/binary>>} = kvik:web(#{ip => any}),
    ok = kvik:web(stop),
    case kvik:web(#{ip => {0, 0, 0, 0, 0, 0, 0, 1}}) of
        {ok, <<"http://[::1]:", _/binary>>} -> ok = kvik:web(stop);
        {error, E} when E =:= eaddrnotavail; E =:= eafnosupport -> ok
    end,
    %% Nothing is left open.
    {ok, Before} = file:list_dir("/proc/self/fd"),
    [{{ok, _}, ok} = {kvik:web(#{}), kvik:web(stop)} || _ <- lists:seq(1, 20)],
    {ok, After} = file:list_dir("/proc/self/fd"),
    true = length(After) =< length(Before).

%% ---- requests ----

web(requests, {_, _, Token} = At) ->
    Own = [$/, Token],
    Wrong = [$/, lists:duplicate(length(Token), $0)],
    Expected = [
        {req([Own, "/"]), 200}, {req([Own, "/?x=1"]), 200}, {req([Own, "/data"]), 200},
        {["HEAD ", Own, "/ HTTP/1.1\r\n\r\n"], 200},
        {req([Own, "/process/0"]), 200},
        %% Nobody: said so, but no fault.
        {req([Own, "/process/268435455"]), 200},
        {req([Own, "/process/4294967296"]), 404}, {req([Own, "/process/-1"]), 404},
        {req([Own, "/process/"]), 404}, {req([Own, "/process/0/x"]), 404},
        {req(Own), 404}, {req([Own, "/x"]), 404}, {req([Own, "/../../etc/passwd"]), 404},
        {req([Own, "//"]), 404}, {req([Own, "/%2e%2e/"]), 404},
        %% Without the token, or with another.
        {req("/"), 403}, {req("/data"), 403}, {req("/favicon.ico"), 403}, {req("//"), 403},
        {req([Wrong, "/"]), 403}, {req([Wrong, "/data"]), 403}, {req([Wrong, "/process/0"]), 403},
        {req([$/, lists:droplast(Token), "/"]), 403}, {req([$/, Token, "0/"]), 403},
        {req([$/, string:uppercase(Token), "x/"]), 403}, {req(["/data", Own]), 403},
        {req(["/?", Token]), 403},
        %% Other methods.
        {[["POST ", Own, "/ HTTP/1.1\r\n\r\n"]], 405}, {["PUT ", Own, "/data HTTP/1.1\r\n\r\n"], 405},
        {["DELETE ", Own, "/process/0 HTTP/1.1\r\n\r\n"], 405}, {"OPTIONS * HTTP/1.1\r\n\r\n", 405},
        {"CONNECT a:1 HTTP/1.1\r\n\r\n", 405}, {["TRACE ", Own, "/ HTTP/1.1\r\n\r\n"], 405},
        {["BREW ", Own, "/ HTTP/1.1\r\n\r\n"], 405}, {["get ", Own, "/ HTTP/1.1\r\n\r\n"], 405},
        %% Too large.
        {["GET /", lists:duplicate(100000, $x), " HTTP/1.1\r\n\r\n"], 431},
        {["GET ", Own, "/ HTTP/1.1\r\n", lists:duplicate(1000, "a: b\r\n"), "\r\n"], 431},
        {["GET ", Own, "/ HTTP/1.1\r\na: ", lists:duplicate(1000000, $x), "\r\n\r\n"], 431},
        {["GET ", Own, "/ HTTP/1.1\r\nContent-Length: 5\r\n\r\nhello"], 413},
        {["GET ", Own, "/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n"], 413},
        {["GET ", Own, "/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"], 413},
        %% No requests at all.
        {<<22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3>>, 400}, {"\0\0\0\0\r\n\r\n", 400}, {"hello\r\n\r\n", 400},
        {["GET ", Own, "/\r\n\r\n"], 400}, {["GET ", Own, "/ HTTP/1.1\r\n: b\r\n\r\n"], 400},
        {["GET ", Own, "/\0 HTTP/1.1\r\n\r\n"], 400}, {["GET ", Own, "/ HTTP/3.0\r\n\r\n"], 505},
        {["GET http://", Own, "/ HTTP/1.1\r\n\r\n"], 400}, {"GET x HTTP/1.1\r\n\r\n", 400}
    ],
    Got = [{R, status(At, R)} || {R, _} <- Expected],
    [] = [{lists:sublist(lists:flatten([R]), 60), S, G} || {{R, S}, {R, G}} <- lists:zip(Expected, Got), S =/= G];

web(chance, At) ->
    rand:seed(exsss, {1, 2, 3}),
    [true = lists:member(status(At, noise()), [400, 405, 431, 505, closed]) || _ <- lists:seq(1, 300)],
    200 = data(At);

%% What one connection may do in a row.
web(connection, {_, _, Token} = At) ->
    Data = req([$/, Token, "/data"]),
    S = connect(At),
    [begin ok = gen_tcp:send(S, Data), {200, Body} = answer(S), true = byte_size(Body) > 1000 end
     || _ <- lists:seq(1, 3)],
    %% Three at once, and one a byte at a time.
    ok = gen_tcp:send(S, [Data, Data, Data]),
    [{200, _} = answer(S) || _ <- lists:seq(1, 3)],
    [ok = gen_tcp:send(S, [B]) || B <- lists:flatten(Data)],
    {200, _} = answer(S),
    %% A head alone has no body.
    ok = gen_tcp:send(S, [["HEAD /", Token, "/data HTTP/1.1\r\n\r\n"], ["HEAD /", Token, "/process/0 HTTP/1.1\r\n\r\n"], Data]),
    {200, _} = head(S),
    {200, _} = head(S),
    {200, _} = answer(S),
    ok = gen_tcp:send(S, ["GET /", Token, "/data HTTP/1.1\r\nConnection: close\r\n\r\n"]),
    {200, _} = answer(S),
    {error, closed} = gen_tcp:recv(S, 1, 10000),
    %% So many that no page asks.
    F = connect(At),
    _ = gen_tcp:send(F, lists:duplicate(1000, Data)),
    closed = drain(F),
    200 = data(At);

%% A thousand connections that send nothing, or next to nothing: others are served meanwhile, and they
%% are closed before long.
web(slow, At) ->
    Kinds = [fun(_) -> ok end, fun(S) -> gen_tcp:send(S, "GET /") end,
             fun(S) -> spawn(fun() -> drip(S) end) end],
    Open = fun(I) ->
        S = connect(At),
        (lists:nth(1 + I rem length(Kinds), Kinds))(S),
        S
    end,
    Half = [Open(I) || I <- lists:seq(1, 500)],
    200 = data(At),
    More = [Open(I) || I <- lists:seq(501, 1000)],
    [200 = data(At) || _ <- lists:seq(1, 20)],
    io:format("open~n"),
    %% All of them end, by themselves.
    [closed = drain(S) || S <- Half ++ More];

%% More pages than there may be connections: who was silent longest goes.
web(pages, {_, _, Token} = At) ->
    Pages = [begin S = ask(At, [$/, Token, "/data"]), {200, _} = answer(S), S end || _ <- lists:seq(1, 200)],
    {Old, New} = lists:split(100, Pages),
    [{error, closed} = gen_tcp:recv(S, 1, 10000) || S <- Old],
    S = lists:last(New),
    ok = gen_tcp:send(S, req([$/, Token, "/data"])),
    {200, _} = answer(S);

%% Processes that do not get to run give no answer; the page does.
web(silent, {_, _, Token} = At) ->
    Silent = fun() ->
        {200, Body} = answer(ask(At, [$/, Token, "/process/0"])),
        binary:match(Body, <<"\"silent\":true">>) =/= nomatch
    end,
    %% Now they may be kept from it: see `silent` in `run`.
    io:format("up~n"),
    until(Silent),
    {200, _} = answer(ask(At, [$/, Token, "/data"])),
    until(fun() ->
        {200, Data} = answer(ask(At, [$/, Token, "/data"])),
        binary:match(Data, <<"\"no answer\"">>) =/= nomatch
    end),
    %% When they run again they answer again.
    until(fun() -> not Silent() end);

%% Of many processes a part is asked at a time, and the one that stands out is found.
web(many, {_, _, Token} = At) ->
    S = connect(At),
    until(fun() ->
        timer:sleep(300),
        ok = gen_tcp:send(S, req([$/, Token, "/data"])),
        {200, Body} = answer(S),
        {match, [N]} = re:run(Body, "\"asked\":(\\d+)", [{capture, all_but_first, list}]),
        true = list_to_integer(N) < 5000,
        re:run(Body, "\"mailbox\":1000,[^}]*\"name\":\"'<img src=x>'\"") =/= nomatch
    end).

%% ---- talking ----

until(F) -> until(F, 200).
until(F, N) when N > 0 ->
    case F() of
        true -> ok;
        false -> timer:sleep(50), until(F, N - 1)
    end.

parse(Address) ->
    {match, [Host, Port, Token]} =
        re:run(Address, "^http://(.*):(\\d+)/([0-9a-f]+)/$", [{capture, all_but_first, list}]),
    {Host, list_to_integer(Port), Token}.

req(Path) -> lists:flatten(["GET ", Path, " HTTP/1.1\r\nHost: x\r\n\r\n"]).

connect({Host, Port, _}) ->
    {ok, S} = gen_tcp:connect(Host, Port, [binary, {active, false}], 20000),
    S.
ask(At, Path) ->
    S = connect(At),
    ok = gen_tcp:send(S, req(Path)),
    S.
data({_, _, Token} = At) -> status(At, req([$/, Token, "/data"])).

%% The status of what a request is answered with, on a connection of its own.
status(At, Request) ->
    S = connect(At),
    %% It may be refused before all of it is sent.
    _ = gen_tcp:send(S, Request),
    R = try head(S) of {Status, _} -> Status catch throw:closed -> closed end,
    gen_tcp:close(S),
    R.

answer(S) ->
    {Status, Length} = head(S),
    {ok, Body} = gen_tcp:recv(S, Length, 20000),
    {Status, Body}.
head(S) ->
    ok = inet:setopts(S, [{packet, http_bin}]),
    Status = case gen_tcp:recv(S, 0, 20000) of
        {ok, {http_response, {1, 1}, N, _}} -> N;
        {error, E} when E =:= closed; E =:= econnreset -> throw(closed)
    end,
    Length = headers(S, 0),
    ok = inet:setopts(S, [{packet, raw}]),
    {Status, Length}.
headers(S, Length) ->
    case gen_tcp:recv(S, 0, 20000) of
        {ok, {http_header, _, 'Content-Length', _, N}} -> headers(S, binary_to_integer(N));
        {ok, {http_header, _, _, _, _}} -> headers(S, Length);
        {ok, http_eoh} -> Length
    end.

noise() ->
    Bytes = rand:bytes(rand:uniform(200)),
    Request = <<"GET /0/ HTTP/1.1\r\nHost: x\r\n\r\n">>,
    case rand:uniform(3) of
        1 -> [Bytes, "\r\n\r\n"];
        2 ->
            At = rand:uniform(12),
            <<A:At/binary, _, B/binary>> = Request,
            [A, rand:bytes(1), "\0", B];
        3 -> ["GET ", Bytes, " HTTP/1.1\r\n\r\n"]
    end.

drip(S) ->
    case gen_tcp:send(S, "x") of
        ok -> timer:sleep(200), drip(S);
        _ -> ok
    end.
drain(S) ->
    case gen_tcp:recv(S, 0, 60000) of
        {ok, _} -> drain(S);
        {error, timeout} -> timeout;
        {error, _} -> closed
    end.
