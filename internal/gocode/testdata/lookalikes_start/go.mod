module example.org/start

go 1.26
