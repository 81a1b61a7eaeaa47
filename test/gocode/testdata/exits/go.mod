module example.org/exits

go 1.26
