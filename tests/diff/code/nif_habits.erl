%% What no manual page of the NIF interface promises, and libraries rely on.
-module(nif_habits).
-export([main/0]).
-nifs([release_locked/0, release_elsewhere/0, written_later/1, sizes/0, errno_stays/1, environment/1,
       characters/0, names/0, lock/0, unlock/0, try_locks/0, writer_among_readers/0]).

main() ->
    "" = build(),
    ok = erlang:load_nif(filename:rootname(tmp()), []),
    t:p({locked, release_locked(), destroyed()}),
    t:p({elsewhere, release_elsewhere(), destroyed()}),
    t:p({written_later, written_later(3), written_later(64)}),
    {Large, true} = written_later(65),
    t:p({written_later, byte_size(Large)}),
    t:p({sizes, sizes(), destroyed()}),
    t:p({errno_stays, errno_stays({some, "term"})}),
    os:putenv("NIF_HABITS", "set"),
    t:p({environment, environment("NIF_HABITS"), environment("NIF_HABITS_OTHER")}),
    os:unsetenv("PATH"),
    t:p({environment, environment("PATH")}),
    t:p({characters, characters()}),
    t:p({names, names()}),
    t:p({unlocked_elsewhere, lock(), unlock(), try_locks()}),
    t:p({writer_among_readers, writer_among_readers()}).

%% {Kind of thread, whether it has a clock, whether the resource has its size}
destroyed() ->
    receive {destroyed, Thread, Clock, Size} -> {Thread, Clock, Size} after 5000 -> never end.

tmp() -> filename:join(os:getenv("DIFF_TMP", "/tmp"), "nif_habits.so").
source() -> filename:join(os:getenv("here", "."), "nif_habits.c").

build() ->
    Include = filename:join([code:root_dir(), "usr", "include"]),
    os:cmd("cc -D_GNU_SOURCE -O1 -w -shared -fPIC -I" ++ Include ++ " -o " ++ tmp() ++ " " ++ source()).

release_locked() -> erlang:nif_error(no_library).
release_elsewhere() -> erlang:nif_error(no_library).
written_later(_) -> erlang:nif_error(no_library).
sizes() -> erlang:nif_error(no_library).
errno_stays(_) -> erlang:nif_error(no_library).
environment(_) -> erlang:nif_error(no_library).
characters() -> erlang:nif_error(no_library).
names() -> erlang:nif_error(no_library).
lock() -> erlang:nif_error(no_library).
unlock() -> erlang:nif_error(no_library).
try_locks() -> erlang:nif_error(no_library).
writer_among_readers() -> erlang:nif_error(no_library).
