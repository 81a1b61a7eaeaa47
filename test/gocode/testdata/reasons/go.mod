module example.org/reasons

go 1.26
