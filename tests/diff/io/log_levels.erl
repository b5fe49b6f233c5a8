%% The logger's levels: what passes primary, module and handler levels.
-module(log_levels).
-export([main/0]).
-export([log/2]).
main() -> logger:remove_handler(default), S = self(), ok = logger:add_handler(h, ?MODULE, #{config => #{to => S}}), Ls = [emergency, alert, critical, error, warning, notice, info, debug], [begin logger:set_primary_config(level, P), [logger:log(L, "~p", [L]) || L <- Ls], t:p(P, fl()) end || P <- [all, debug, notice, error, none]], logger:set_primary_config(level, all), [begin logger:set_handler_config(h, level, P), [logger:log(L, #{l => L}) || L <- Ls], t:p(P, fl()) end || P <- [all, warning, none]], logger:set_handler_config(h, level, all), logger:set_primary_config(level, error), logger:set_module_level(?MODULE, debug), t:p(logger:allow(debug, ?MODULE)), t:p(logger:allow(debug, other)), t:p(logger:get_module_level(?MODULE)), logger:unset_module_level(?MODULE), t:p([logger:compare_levels(A, B) || A <- [error, debug, all, none], B <- [error, notice]]), t:p([t:c(fun() -> logger:F(bad) end) || F <- [allow]] =/= x), t:p(logger:set_primary_config(level, bad)), t:p(logger:add_handler(h, ?MODULE, #{})), t:p(logger:add_handler(g, no_such_module, #{})), t:p(logger:remove_handler(nope)), t:p(logger:get_handler_ids()).
log(#{level := L, msg := M}, #{config := #{to := S}}) -> S ! {L, M}.
fl() -> [X || X <- t:flush()].
