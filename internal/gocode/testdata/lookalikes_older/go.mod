module example.org/lookalikes_older

go 1.18
