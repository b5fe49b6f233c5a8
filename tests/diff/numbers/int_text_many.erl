%% Integers in every base, there and back, of all sizes.
-module(int_text_many).
-export([main/0]).
main() -> g:seed(5), Is = g:times(600, fun(_) -> g:integer() end), [begin true = lists:all(fun(I) -> list_to_integer(integer_to_list(I, B), B) =:= I andalso binary_to_integer(integer_to_binary(I, B), B) =:= I end, Is), g:digest("base" ++ integer_to_list(B), [integer_to_list(I, B) || I <- Is]) end || B <- lists:seq(2, 36)], t:p([t:c(fun() -> list_to_integer(S, B) end) || S <- ["z", "Z", "10", "-10", "+10", "--1", "1-", "", "g", "9"], B <- [2, 8, 10, 16, 36]]), t:p(length(integer_to_list(1 bsl 100000))), t:p(erlang:phash2(list_to_integer(lists:duplicate(3000, $7)))), t:p([erlang:integer_to_binary(X, 2) || X <- [0, 1, -1, 255, 1 bsl 65]]).
