module example.org/rewrites_older

go 1.18
