%% A compiled pattern of several binaries answers the same however much it has scanned, in one
%% process and in several that share it, whether the binaries are few, long or many.
-module(binary_pattern_reuse).
-export([main/0]).

main() ->
    Text = text(4000, 7, []),
    [reuse(Text, N, Size) || {N, Size} <- [{2, 3}, {4, 16}, {5, 13}, {25, 20}, {9, 300}, {100, 8}, {101, 8}]].

reuse(Text, N, Size) ->
    Needles = needles(Text, N, Size),
    Pattern = binary:compile_pattern(Needles),
    First = binary:matches(Text, Pattern),
    Again = [binary:matches(Text, Pattern) =:= First || _ <- lists:seq(1, 60)],
    Shared = [receive {Pid, Same} -> Same end || Pid <- sharing(Text, binary:compile_pattern(Needles), First)],
    t:p({N, Size, element(1, Pattern), First =:= matches(Text, Needles, 0), lists:usort(Again ++ Shared),
         length(First), erlang:phash2(First), erlang:phash2(binary:split(Text, Pattern, [global])),
         binary:match(Text, Pattern, [{scope, {100, 900}}])}).

sharing(Text, Pattern, First) ->
    Parent = self(),
    [spawn_link(fun() ->
                        Same = [binary:matches(Text, Pattern) =:= First || _ <- lists:seq(1, 20)],
                        Parent ! {self(), lists:usort(Same) =:= [true]}
                end) || _ <- lists:seq(1, 6)].

%% The reference: the longest binary at each position.
matches(Text, Needles, At) when At < byte_size(Text) ->
    case lists:max([0 | [byte_size(B) || B <- Needles, begins(Text, At, B)]]) of
        0 -> matches(Text, Needles, At + 1);
        Size -> [{At, Size} | matches(Text, Needles, At + Size)]
    end;
matches(_, _, _) ->
    [].

begins(Text, At, B) ->
    Size = byte_size(B),
    case Text of
        <<_:At/binary, B:Size/binary, _/binary>> -> true;
        _ -> false
    end.

%% Parts of the text, of up to Size bytes, and binaries that only begin like them.
needles(Text, N, Size) ->
    [begin
         Part = binary:part(Text, (I * 37) rem 3000, max(1, Size - I rem 5)),
         case I rem 3 of
             0 -> <<Part/binary, "?">>;
             _ -> Part
         end
     end || I <- lists:seq(1, N)].

text(0, _, Acc) -> list_to_binary(Acc);
text(N, X, Acc) ->
    Next = (X * 1103515245 + 12345) band 16#7fffffff,
    text(N - 1, Next, [$a + (Next bsr 16) rem 5 | Acc]).
