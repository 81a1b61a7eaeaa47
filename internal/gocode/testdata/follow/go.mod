module example.org/follow

go 1.24

require example.org/dep v0.0.0

replace example.org/dep => ./dep
