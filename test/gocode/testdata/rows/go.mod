module example.org/rows

go 1.26
