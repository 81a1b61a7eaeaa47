module example.org/announced

go 1.26
