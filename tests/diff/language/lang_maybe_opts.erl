%% Features, attributes, types and directives that a module may have.
-module(lang_maybe_opts).
-export([main/0]).
-export_type([ty/0]).
-my_attr([1, {a, "b"}]).
-my_attr(second).
-author("nobody").
-on_load(ld/0).
-compile({inline, [loc/0]}).
main() ->
    I = ?MODULE:module_info(attributes),
    t:p(lists:sort([A || {K, _} = A <- I, K =/= vsn])),
    t:p(?MODULE:module_info(module)),
    t:p(lists:sort(?MODULE:module_info(exports))),
    t:p(ret()),
    t:p([ifd()]),
    t:p(erlang:function_exported(?MODULE, loc, 0)),
    t:p(is_binary(?MODULE:module_info(md5))),
    t:p([K || {K, _} <- ?MODULE:module_info(compile), K =/= source, K =/= options]),
    t:p(t:c(fun() -> ?MODULE:module_info(bad) end)),
    t:p(?OTP_RELEASE),
    t:p(loc()).
-type ty() :: a | b.
-spec ret() -> term().
ld() -> persistent_term:put(?MODULE, loaded), ok.
ret() -> {a, persistent_term:get(?MODULE)}.
loc() -> [X || X <- [1, 2]].
-ifdef(NOPE).
ifd() -> yes.
-else.
ifd() -> no.
-endif.
