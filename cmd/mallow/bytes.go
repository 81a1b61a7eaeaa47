package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// byteCount is a flag for a number of bytes, which may end with one of byteUnits.
type byteCount uint64

// byteUnits are those of options, of 1024, and those that reports print.
var byteUnits = []struct {
	name  string
	bytes uint64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
	{"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}, {"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30},
}

func (n *byteCount) Set(s string) error {
	digits, unit := s, uint64(1)
	for _, u := range byteUnits {
		if number, found := strings.CutSuffix(s, u.name); found {
			digits, unit = strings.TrimSuffix(number, " "), u.bytes
			break
		}
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	if err != nil || v > math.MaxUint64/unit {
		return fmt.Errorf("must be a number of bytes, or one with K, M or G (of 1024) or kB, MB or GB (of 1000) behind")
	}
	*n = byteCount(v * unit)
	return nil
}

func (n *byteCount) String() string {
	for shift, unit := range map[int]string{30: "G", 20: "M", 10: "K"} {
		if v := uint64(*n); v != 0 && v&(1<<shift-1) == 0 && v>>shift < 1<<10 {
			return strconv.FormatUint(v>>shift, 10) + unit
		}
	}
	return strconv.FormatUint(uint64(*n), 10)
}

// Type names the values of the flag in its help.
func (n *byteCount) Type() string { return "SIZE" }

// byteRange is a flag for MIN..MAX, of which either may be missing.
type byteRange struct {
	set         bool
	least, most byteCount
}

func (r *byteRange) Set(s string) error {
	low, high, isRange := strings.Cut(s, "..")
	*r = byteRange{set: true, most: math.MaxUint64 - 1}
	if !isRange {
		high = low
	}
	if low != "" {
		if err := r.least.Set(low); err != nil {
			return rangeError()
		}
	}
	if high != "" {
		if err := r.most.Set(high); err != nil {
			return rangeError()
		}
	}
	if s == "" || r.least > r.most {
		return rangeError()
	}
	return nil
}

func rangeError() error { return fmt.Errorf("must be a size, or a range MIN..MAX, MIN.. or ..MAX") }

func (r *byteRange) String() string {
	if !r.set {
		return ""
	}
	return r.least.String() + ".." + r.most.String()
}

// Type names the values of the flag in its help.
func (r *byteRange) Type() string { return "MIN..MAX" }
