%% What applications do with much data: a log read with regular expressions, a
%% cache in ETS, a document in XML, a script in Lua, the calls between modules.
%% Where a library is not installed the program says so: `missing WHAT`.
-module(programs_data).
-export([log_lines/1, log/2, cache/2, xml_text/1, xml/2, luerl_there/1, lua/2,
         xref_there/1, xref/2]).

%% So many lines, as a web server writes them, and what they sum up to.
log_lines(Count) ->
    {Lines, Sums} = lists:mapfoldl(fun log_line/2, #{}, lists:seq(1, Count)),
    {iolist_to_binary(Lines), Sums}.

log_line(I, Sums) ->
    Status = element(1 + I rem 5, {<<"200">>, <<"200">>, <<"304">>, <<"404">>, <<"500">>}),
    Bytes = I * 7919 rem 100003,
    Line = io_lib:format("10.~b.~b.~b - - [~2..0b/Nov/2026:~2..0b:~2..0b:~2..0b +0000] "
                         "\"GET /shop/item-~b?page=~b HTTP/1.1\" ~s ~b "
                         "\"https://example.org/list\" \"Mozilla/5.0 (X11; Linux x86_64)\"~n",
                         [I rem 256, I div 7 rem 256, I rem 99, 1 + I rem 28, I rem 24,
                          I rem 60, I div 3 rem 60, I rem 997, I rem 10, Status, Bytes]),
    {Line, maps:update_with(Status, fun(B) -> B + Bytes end, Bytes, Sums)}.

%% The bytes sent with each status. Each line is taken apart by one expression, its
%% request and its date by two more.
log(Count, {Text, Sums}) ->
    {ok, Line} = re:compile("^(\\S+) \\S+ (\\S+) \\[([^]]+)\\] \"([^\"]*)\" (\\d{3}) (\\d+|-) "
                            "\"([^\"]*)\" \"([^\"]*)\"$"),
    {ok, Request} = re:compile("^([A-Z]+) ([^ ?]+)(?:\\?(\\S*))? HTTP/(\\d)\\.(\\d)$"),
    {ok, Date} = re:compile("^(\\d+)/(\\w+)/(\\d+):(\\d+):(\\d+):(\\d+)"),
    Lines = re:split(Text, "\\R", [trim]),
    Count = length(Lines),
    Sums = lists:foldl(fun(L, Acc) -> log_sum(L, Line, Request, Date, Acc) end, #{}, Lines),
    ok.

log_sum(Text, Line, Request, Date, Sums) ->
    Parts = [{capture, all_but_first, binary}],
    {match, [_, _, At, Asked, Status, Bytes, _, _]} = re:run(Text, Line, Parts),
    {match, [<<"GET">>, <<"/shop/", _/binary>>, <<"page=", _/binary>>, <<"1">>, <<"1">>]} =
        re:run(Asked, Request, Parts),
    {match, [_, <<"Nov">>, <<"2026">>, _, _, _]} = re:run(At, Date, Parts),
    Sent = binary_to_integer(Bytes),
    maps:update_with(Status, fun(B) -> B + Sent end, Sent, Sums).

%% So many look-ups in a cache of 10,000 entries that drops what was not asked for
%% longest: one table by key, one by the time of the last use.
-define(CACHED, 10000).

cache(Count, _) ->
    Entries = ets:new(entries, [set]),
    Uses = ets:new(uses, [ordered_set]),
    {Hits, Misses} = look_up(Count, rand:seed_s(exsss, {1, 2, 3}), Entries, Uses, 0, 0),
    Count = Hits + Misses,
    true = Hits > Misses,
    Size = min(Misses, ?CACHED),
    {Size, Size} = {ets:info(Entries, size), ets:info(Uses, size)},
    Bytes = ets:foldl(fun({_, _, Value}, Sum) -> Sum + byte_size(maps:get(text, Value)) end, 0, Entries),
    Bytes = Size * 40,
    ok.

look_up(0, _, _, _, Hits, Misses) -> {Hits, Misses};
look_up(N, S0, Entries, Uses, Hits, Misses) ->
    {X, S} = rand:uniform_s(S0),
    Key = {user, trunc(X * X * X * 30000)},
    case ets:lookup(Entries, Key) of
        [{_, Used, #{key := Key}}] ->
            true = ets:delete(Uses, Used),
            true = ets:update_element(Entries, Key, {2, N}),
            true = ets:insert(Uses, {N, Key}),
            look_up(N - 1, S, Entries, Uses, Hits + 1, Misses);
        [] ->
            ets:info(Entries, size) < ?CACHED orelse drop_oldest(Entries, Uses),
            Value = #{key => Key, text => <<N:320>>, seen => [N, X]},
            true = ets:insert_new(Entries, {Key, N, Value}),
            true = ets:insert(Uses, {N, Key}),
            look_up(N - 1, S, Entries, Uses, Hits, Misses + 1)
    end.

%% `N` counts down, so the last is the oldest.
drop_oldest(Entries, Uses) ->
    Oldest = ets:last(Uses),
    [{_, Key}] = ets:take(Uses, Oldest),
    true = ets:delete(Entries, Key).

%% So many orders as one document, read whole by xmerl; its parts are counted.
xml_text(Count) ->
    code:which(xmerl_scan) =/= non_existing orelse programs:missing("xmerl (apt-get install erlang-xmerl)"),
    Orders = [io_lib:format("<order id=\"o~b\" paid=\"~s\"><name>J&#252;rgen &amp; ~b</name>"
                            "<line article=\"a~b\" pieces=\"~b\"/><!-- ~b --><note>none</note></order>~n",
                            [I, I rem 3 =:= 0, I, I * 31 rem 1000, I rem 7, I])
              || I <- lists:seq(1, Count)],
    lists:flatten(["<?xml version=\"1.0\"?>\n<orders>", Orders, "</orders>"]).

xml(Count, Text) ->
    {Document, []} = xmerl_scan:string(Text, [{space, normalize}]),
    Ids = xmerl_xpath:string("/orders/order[line/@pieces='3']/@id", Document),
    Ids2 = [I || I <- lists:seq(1, Count), I rem 7 =:= 3],
    true = length(Ids) =:= length(Ids2),
    ok.

%% A script that calls, counts, sorts and joins, run so many times.
luerl_there(_) ->
    Modules = [luerl, luerl_emul, luerl_comp, luerl_lib_table],
    code:ensure_modules_loaded(Modules) =:= ok orelse
        programs:missing("luerl for this OTP (apt-get install erlang-luerl)"),
    none.

lua(Count, _) ->
    Script = <<"local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end\n"
               "local t = {}\n"
               "for i = 1, 2000 do t[i] = (i * 7919) % 2003 end\n"
               "table.sort(t)\n"
               "local s = 0\n"
               "for i, v in ipairs(t) do s = s + i * v end\n"
               "local words = {}\n"
               "for i = 1, 500 do words[#words + 1] = 'w' .. (i % 10) end\n"
               "return fib(18), s, #table.concat(words, ' ')\n">>,
    lua(Count, Script, luerl:init()).

lua(0, _, _) -> ok;
lua(N, Script, State) ->
    [2584.0, _, 1499.0] = [float(X) || X <- values(luerl:do(Script, State))],
    lua(N - 1, Script, State).

%% Luerl 1.0 says `ok` too.
values({ok, Values, _}) -> Values;
values({Values, _}) -> Values.

%% Who calls whom in so many of stdlib's modules.
xref_there(_) ->
    code:which(xref) =/= non_existing orelse programs:missing("tools (apt-get install erlang-tools)"),
    none.

xref(Count, _) ->
    {ok, _} = xref:start(calls),
    xref:set_default(calls, [{warnings, false}, {verbose, false}]),
    [{ok, _} = xref:add_module(calls, File) || File <- compiles:some(Count)],
    {ok, Undefined} = xref:analyze(calls, undefined_function_calls),
    {ok, Unused} = xref:analyze(calls, locals_not_used),
    {ok, Reached} = xref:q(calls, "closure E | lists : Mod || XU"),
    true = is_list(Undefined) andalso is_list(Unused) andalso is_list(Reached),
    stopped = xref:stop(calls),
    ok.
