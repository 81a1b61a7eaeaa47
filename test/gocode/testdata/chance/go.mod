module example.org/chance

go 1.26
