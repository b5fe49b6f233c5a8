%% A Dets file that was not closed is repaired. What a bag has for one key is lost by that where it takes more than 8 KB:
%% so it is with OTP's Dets, and what servers find after they were killed depends on it.
-module(dets_repair).
-export([main/0]).

main() ->
    Dir = t:tmp("dets_repair"),
    ok = file:set_cwd(Dir), % names of files are printed
    [t:p({N, repaired(N)}) || N <- [1, 2, 10, 12, 13, 14, 20]],
    file:del_dir_r(Dir).

repaired(N) ->
    [File, Copy] = [F ++ integer_to_list(N) || F <- ["table", "copy"]],
    Options = [{type, bag}, {keypos, 2}, {auto_save, infinity}],
    {ok, table} = dets:open_file(table, [{file, File} | Options]),
    ok = dets:insert(table, [{message, key, M, binary:copy(<<M>>, 600)} || M <- lists:seq(1, N)]),
    ok = dets:insert(table, {message, other, 0, <<>>}),
    _ = dets:first(table), % which writes out what was inserted
    {ok, Size} = file:copy(File, Copy),
    {ok, copy} = dets:open_file(copy, [{file, Copy} | Options]),
    Left = {length(dets:lookup(copy, key)), length(dets:lookup(copy, other))},
    ok = dets:close(copy),
    ok = dets:close(table),
    {Size, Left}.
