%% Compares .beam files of two folders: chunks main REFERENCE OTP KVIK LIST, where LIST
%% names one file a line. Prints a FAIL line for each that differs, and last "N equal, M different".
%%
%% Equal means: the same chunks in the same order with the same bytes. Only
%%  - literals (LitT) are compared inflated, since two zlibs may pack them differently;
%%  - with REFERENCE installed, CInf (options and paths of the compilation) and, in Dbgi, the
%%    options and the folders of headers are left out: those files were compiled elsewhere.
-module(chunks).
-export([main/1]).

main([Reference, Otp, Kvik, List]) ->
    {ok, Text} = file:read_file(List),
    Names = string:lexemes(binary_to_list(Text), "\n"),
    Results = [{Name, compare(Reference, Otp, Kvik, Name)} || Name <- Names],
    Bad = [R || {_, Why} = R <- Results, Why =/= equal, Why =/= same],
    [io:format("FAIL ~ts: ~ts~n", [Name, Why]) || {Name, Why} <- Bad],
    Same = length([same || {_, same} <- Results]),
    io:format("reference: ~ts; the same to the last byte: ~w~n", [Reference, Same]),
    io:format("~w equal, ~w different~n", [length(Names) - length(Bad), length(Bad)]),
    halt(case Bad of [] -> 0; _ -> 1 end).

compare(Reference, Otp, Kvik, Name) ->
    case {read(Otp, Name), read(Kvik, Name)} of
        {{ok, B}, {ok, B}} -> same;
        {{ok, A}, {ok, B}} -> chunks(Reference, split(A), split(B));
        {{error, _}, {error, _}} -> ["neither compiles it", log(Kvik, Name)];
        {_, {error, _}} -> ["kvik does not compile it", log(Kvik, Name)];
        {{error, _}, _} -> ["only kvik compiles it", log(Otp, Name)]
    end.

log(Dir, Name) -> [": see ", filename:join([Dir, filename:dirname(Name), "log"])].

read(Dir, Name) -> file:read_file(filename:join(Dir, Name) ++ ".beam").

split(Beam) ->
    {ok, _, Chunks} = beam_lib:all_chunks(Beam),
    Chunks.

chunks(Reference, A, B) ->
    case {ids(A), ids(B)} of
        {Ids, Ids} ->
            Pairs = lists:zip(A, B),
            Diff = [Id || {{Id, X}, {Id, Y}} <- Pairs, X =/= Y, not alike(Reference, Id, X, Y)],
            case Diff of
                [] -> equal;
                _ -> ["these chunks differ:", [[$\s, Id] || Id <- Diff]]
            end;
        {IdsA, IdsB} -> io_lib:format("chunks ~0p on OTP, ~0p on kvik", [IdsA, IdsB])
    end.

ids(Chunks) -> [Id || {Id, _} <- Chunks].

alike(_, "LitT", <<S:32, A/binary>>, <<S:32, B/binary>>) ->
    zlib:uncompress(A) =:= zlib:uncompress(B);
alike("installed", "CInf", _, _) -> true;
alike("installed", "Dbgi", A, B) -> placeless(binary_to_term(A)) =:= placeless(binary_to_term(B));
alike(_, _, _, _) -> false.

%% The debug information of erl_abstract_code without its options and the folders of headers
placeless({debug_info_v1, Backend, {Forms, Options}}) when is_list(Forms), is_list(Options) ->
    {debug_info_v1, Backend, [form(F) || F <- Forms]};
placeless(Term) -> Term.

form({attribute, Anno, file, {Path, Line}}) ->
    {attribute, Anno, file, {filename:basename(Path), Line}};
form(Form) -> Form.
