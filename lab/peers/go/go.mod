module talk

go 1.19
