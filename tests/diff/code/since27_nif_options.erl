%% since 27
%% What erl_nif.h has since 2.17: options of a library, atoms and strings in UTF-8. The library's
%% module is made here, so that it can be purged; machines like this one (VM, as the runner has it)
%% are what halts.
-module(since27_nif_options).
-export([main/0, child/1]).

main() ->
    "" = build(),
    load(first, []),
    strings(),
    atoms(),
    t:p({option_that_is_late, nif_options:late_option()}),
    load(second, [on_halt, delay_halt, on_unload_thread]),
    unloaded(second),
    [t:p({halt, How, machine(How)})
     || How <- ["delayed", "callback", "no_flush", "option", "flag"]],
    [t:pc({option, O}, fun() -> erlang:halt(0, [O]) end)
     || O <- [{flush_timeout, infinity}, {flush_timeout, -1}, flush_timeout,
              {flush, 1}]].

tmp(Name) -> filename:join(os:getenv("DIFF_TMP", "/tmp"), Name).
source() -> filename:join(os:getenv("here", "."), "nif_options.c").

build() ->
    Include = filename:join([code:root_dir(), "usr", "include"]),
    os:cmd("cc -O1 -w -shared -fPIC -I" ++ Include ++ " -o " ++ tmp("nif_options.so") ++ " " ++ source()).

%% A new version of the module, with a library of its own that has these options.
load(Name, Options) ->
    Load = "load(Path, Info) -> erlang:load_nif(Path, Info).",
    Nifs = [io_lib:format("~s(~s) -> erlang:nif_error(~s).", [F, lists:join(",", lists:duplicate(N, "_")), F])
            || {F, N} <- [{"until_halt", 1}, {"late_option", 0}, {"string", 3}, {"new_atom", 2}]],
    Text = ["-module(nif_options).", "-export([load/2,until_halt/1,late_option/0,string/3,new_atom/2]).", Load | Nifs],
    Forms = [begin {ok, Ts, _} = erl_scan:string(lists:flatten(T)), {ok, F} = erl_parse:parse_form(Ts), F end
             || T <- Text],
    {ok, _, Beam} = compile:forms(Forms),
    code:purge(nif_options),
    code:delete(nif_options),
    code:purge(nif_options),
    {module, _} = code:load_binary(nif_options, "nif_options", Beam),
    {ok, _} = file:copy(tmp("nif_options.so"), library(Name) ++ ".so"),
    Info = {Options, erlang:system_info(schedulers), library(Name) ++ ".unloaded"},
    ok = nif_options:load(library(Name), Info).

library(Name) -> tmp(atom_to_list(Name)).

strings() ->
    [t:p({S, Encoding, Room, nif_options:string(S, Encoding, Room)})
     || S <- ["", "abc", [$a, 16#e9, 16#20ac, 16#1f600], [16#d800], [16#110000], [$a | b], [a], x, [$a, -1]],
        Encoding <- [latin1, utf8],
        Room <- [0, 1, 3, 6, 7, 64]].

atoms() ->
    [t:p({Name, Encoding, nif_options:new_atom(Name, Encoding)})
     || Name <- [<<>>, <<"nif_options_new">>, <<"caf\303\251">>, <<"caf\351">>, <<226,130,172>>, <<237,160,128>>,
                 binary:copy(<<"x">>, 255), binary:copy(<<"x">>, 256), binary:copy(<<195,169>>, 255),
                 binary:copy(<<195,169>>, 256)],
        Encoding <- [latin1, utf8]].

unloaded(Name) ->
    code:delete(nif_options),
    code:purge(nif_options),
    File = library(Name) ++ ".unloaded",
    wait_for(fun() -> filelib:file_size(File) > 0 end),
    t:p({unloaded, file:read_file(File)}).

machine(How) ->
    Beams = filename:dirname(code:which(?MODULE)),
    Script = "exec $VM $VM_FLAGS " ++ flags(How) ++ " -noshell -noinput -kernel logger_level none -pa " ++ Beams
        ++ " -run since27_nif_options child " ++ How,
    P = open_port({spawn_executable, "/bin/sh"}, [{args, ["-c", Script]}, exit_status, stderr_to_stdout]),
    output(P, []).

output(P, Said) ->
    receive
        {P, {data, D}} -> output(P, [Said, D]);
        {P, {exit_status, N}} -> {N, lists:flatten(Said)}
    after 20000 -> none
    end.

flags("flag") -> "+zhft 100";
flags("option") -> "+zhft 1000000";
flags("callback") -> "+zhft infinity";
flags(_) -> "".

child([How]) ->
    load(list_to_atom(How), options(How)),
    Self = self(),
    [begin spawn(fun() -> nif_options:until_halt(Self) end), receive begun -> ok end end
     || How =/= "callback"],
    leave(How).

options("delayed") -> [on_halt, delay_halt];
options("no_flush") -> [on_halt, delay_halt];
options("callback") -> [on_halt];
options(_) -> [delay_halt].

leave("no_flush") -> halt(4, [{flush, false}, {flush_timeout, 1000000}]);
leave("option") -> halt(5, [{flush_timeout, 100}]);
leave(_) -> halt(3).

wait_for(F) -> wait_for(F, 1000).
wait_for(_, 0) -> timeout;
wait_for(F, N) -> case F() of true -> true; _ -> timer:sleep(20), wait_for(F, N - 1) end.
