%% Tables to files and back, with the options and damaged files.
-module(ets_tab_files).
-export([main/0]).
main() ->
    D = t:tmp("tabs"), F = filename:join(D, "t"), T = ets:new(t, [bag, {keypos, 1}, public]), [ets:insert(T, {K, {V, "x"}}) || K <- lists:seq(1, 20), V <- [a, b]], t:p(ets:tab2file(T, F)), {ok, U} = ets:file2tab(F), t:p({ets:info(U, type), ets:info(U, size), ets:info(U, name), lists:sort(ets:tab2list(U)) =:= lists:sort(ets:tab2list(T))}),
    t:p([ets:tab2file(T, F, O) || O <- [[{extended_info, [md5sum]}], [{extended_info, [object_count]}], [{sync, true}], []]]), t:p(element(1, ets:file2tab(F, [{verify, true}]))), {ok, I} = ets:tabfile_info(F), t:p(lists:keydelete(extended_info, 1, I)), {ok, B} = file:read_file(F), ok = file:write_file(F, binary:part(B, 0, byte_size(B) div 2)), t:p(element(1, ets:file2tab(F))), t:p(element(1, ets:file2tab(F, [{verify, true}]))), ok = file:write_file(F, "junk"), [t:p(re:replace(io_lib:format("~0p", [X]), "/[^\"]*/", "", [{return, list}])) || X <- [ets:file2tab(F), ets:file2tab(filename:join(D, "none")), ets:tab2file(T, filename:join(D, "no/dir"))]], t:p(t:c(fun() -> ets:tab2file(nope, F) end)).
