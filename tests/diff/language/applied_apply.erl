%% Stack traces of apply with functions that raise, and of apply applied.
-module(applied_apply).
-export([main/0,ap/3,ap1/2,ap0/2,ap3/5,apf/2,t/2,t/3]).
ap(M,F,A) -> apply(M,F,A).
ap1(M,F) -> M:F(z).
ap0(M,F) -> M:F().
ap3(M,F,A,B,C) -> M:F(A,B,C).
apf(F,A) -> apply(F,A).
t(F, A) -> t(applied_apply, F, A).
t(M, F, A) ->
  R = try apply(M, F, A) of V -> {ok,V} catch C:E:S -> {C, E, [{X,Y,Z} || {X,Y,Z,_} <- S, X =/= init, X =/= proc_lib]} end,
  t:p({F, A, R}).
main() ->
  [t(ap, A) || A <- [[erlang,error,[]],[erlang,error,[a]],[erlang,error,[a,[b]]],[erlang,error,[a,[b],[]]],[erlang,error,[a,b,c,d]],
    [erlang,throw,[a]],[erlang,throw,[]],[erlang,throw,[a,b]],[erlang,exit,[a]],[erlang,exit,[]],[erlang,exit,[a,b]],[erlang,exit,[a,b,c]],[erlang,raise,[error,a,[]]],[erlang,raise,[a]],[erlang,raise,[x,a,[]]],
    [erlang,apply,[a,b,c]],[erlang,apply,[erlang,error,[z]]],[erlang,apply,[erlang,apply,[erlang,error,[z]]]],[erlang,apply,[erlang,apply,[a,b,c]]],[erlang,apply,[lists,reverse,[[1,2]]]],
    [erlang,apply,[1,b,[]]],[erlang,apply,[a,1,[]]],[erlang,apply,[erlang,apply,[a,1,[]]]],[erlang,apply,[erlang,apply,[1,a,[]]]],[erlang,apply,[erlang,apply,[a,b]]],[erlang,apply,[erlang,apply]],[erlang,apply,[]],[erlang,apply,[a,b|c]],[erlang,apply,[a,b,[c|d]]],
    [erlang,apply,[fun erlang:error/1,[q]]],[erlang,apply,[nofun,[q]]],[erlang,apply,[a,b,c,d]],[erlang,apply,[nomod,nof,[1,2]]],[erlang,apply,[erlang,hd,[[]]]],[erlang,hd,[[]]],[erlang,halt,[x,y,z]],
    [1,2,3],[a,b,c],[erlang,error,c],[erlang,apply,c],[erlang,spawn,[a]],[erlang,nosuch,[]]]],
  [t(ap3, A) || A <- [[erlang,apply,a,b,c],[erlang,apply,erlang,error,[z]],[erlang,apply,erlang,apply,[erlang,error,[z]]],[erlang,apply,1,b,[]],[erlang,apply,a,1,[]],[erlang,apply,lists,reverse,[[1,2]]],[erlang,apply,erlang,hd,[[]]],[erlang,raise,error,a,[]],[erlang,error,a,[b],[]],[erlang,error,a,b,c],[erlang,apply,nomod,nof,[1]],[erlang,exit,a,b,c]]],
  [t(ap0, A) || A <- [[erlang,error],[erlang,throw],[erlang,exit],[erlang,raise],[erlang,apply],[a,1],[1,a]]],
  [t(ap1, A) || A <- [[erlang,error],[erlang,throw],[erlang,exit],[erlang,raise],[erlang,apply],[a,1],[1,a]]],
  [t(apf, A) || A <- [[fun erlang:error/1,[z]],[fun erlang:error/0,[]],[fun erlang:apply/2,[fun erlang:error/1,[z]]],[fun erlang:throw/1,[z]],[fun erlang:throw/0,[]]]],
  [t(erlang, F, A) || {F,A} <- [{error,[]},{error,[a]},{throw,[]},{apply,[a,b,c]},{apply,[erlang,error,[z]]},{apply,[erlang,apply,[erlang,error,[z]]]}]],
  ok.
