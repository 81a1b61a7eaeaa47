module example.org/many

go 1.26
