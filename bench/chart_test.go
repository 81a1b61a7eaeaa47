package main

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the expected pictures anew")

func example() string {
	sizes := []float64{8, 64, 4096, 4 << 20}
	return drawCharts("Cost & size", []chart{
		{"pairs", sizeAxis, axis{label: "ns", base: 10, text: number}, []line{
			{"glibc", stroke{"#888888", "", 2}, sizes, []float64{10, 11, 40, 900}},
			{"libmallow", stroke{"#000000", "7 3", 3}, sizes, []float64{5, 5, 6, 20}},
		}},
		{"threads", threadAxis, axis{label: "M operations per second", text: number}, []line{
			{"libmallow", stroke{"#000000", "7 3", 3}, []float64{1, 2, 20}, []float64{30, 58, 61}},
		}},
	}, 2, 400, 300)
}

func TestPicture(t *testing.T) {
	golden := filepath.Join("testdata", "charts.svg")
	got := example()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil || got != string(want) {
		t.Errorf("not as in %s (%v): look at the new one and, if it is right, go test ./bench -run TestPicture -update", golden, err)
	}
}

func TestPictureIsXML(t *testing.T) {
	reader := xml.NewDecoder(strings.NewReader(example()))
	for {
		if _, err := reader.Token(); err == io.EOF {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, test := range []struct {
		name string
		got  []float64
		want []float64
	}{
		{"linear", axis{}.ticks(span{0, 61}), []float64{0, 10, 20, 30, 40, 50, 60}},
		{"linear, below 1", axis{}.ticks(span{0, 0.4}), []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4}},
		{"decimal, narrow", axis{base: 10}.ticks(span{4, 60}), []float64{5, 10, 20, 50}},
		{"decimal, wide", axis{base: 10}.ticks(span{4, 60000}), []float64{10, 100, 1000, 10000}},
		{"powers", axis{base: 2}.ticks(span{8, 4096}), []float64{8, 32, 128, 512, 2048}},
	} {
		if !slices.EqualFunc(test.got, test.want, func(a, b float64) bool { return a > b*0.999-1e-9 && a < b*1.001+1e-9 }) {
			t.Errorf("%s: %v, want %v", test.name, test.got, test.want)
		}
	}
}

func TestNoTwoAllocatorsLookAlike(t *testing.T) {
	listed, err := parsePeers(filepath.Join("peers", "peers.txt"))
	if err != nil {
		t.Fatal(err)
	}
	all := []allocator{{name: system}, {name: ours}}
	for _, fields := range listed {
		all = append(all, allocator{name: fields[0], family: fields[3]})
	}
	looks := map[stroke]string{}
	for name, look := range strokesOf(all) {
		if other, found := looks[look]; found {
			t.Errorf("%s and %s are both drawn as %+v", name, other, look)
		}
		looks[look] = name
	}
}
