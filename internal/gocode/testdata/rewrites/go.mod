module example.org/rewrites

go 1.26
