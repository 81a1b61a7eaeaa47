module example.org/lookalikes

go 1.26
