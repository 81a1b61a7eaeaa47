package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMetricsTakeThePlaceOfWhatWasMeasured(t *testing.T) {
	one := mallocRun{usage: usage{user: 1, sys: 2, wall: 4, rss: 1 << 20}, printed: printed{metrics: map[string]float64{}}}
	if one.cpu() != 3 || one.wall() != 4 || one.rss() != 1<<20 {
		t.Errorf("measured %v %v %v", one.cpu(), one.wall(), one.rss())
	}
	one.printed.metrics = map[string]float64{"cpu_seconds": 7, "wall_seconds": 8, "rss_kb": 9}
	if one.cpu() != 7 || one.wall() != 8 || one.rss() != 9*1024 {
		t.Errorf("printed %v %v %v", one.cpu(), one.wall(), one.rss())
	}
}

func TestFiguresOfPoints(t *testing.T) {
	rows := []mallocRow{{name: "threads", group: "ttest"}}
	series := &mallocSeries{failures: map[string]string{failureKey("threads", "jemalloc"): "crashed in the second round"}}
	for _, name := range []string{ours, ours, "jemalloc"} {
		series.runs = append(series.runs, mallocRun{row: "threads", allocator: name,
			printed: printed{points: []point{{"4", 64, []float64{10, 3}}, {"4", 1024, []float64{20, 6}}}}})
	}
	figures, err := figuresOf(rows, series)
	if err != nil || len(figures) != 7 {
		t.Fatalf("%d figures, %v: want memory, system time and faults of the process, and CPU and wall of two points", len(figures), err)
	}
	last := figures[6]
	if last.name() != "t-test1, 4 threads, up to 1K" || last.of != wallTime || len(last.values[ours]) != 2 || last.values["jemalloc"] != nil {
		t.Errorf("%+v", last)
	}
}

func TestRowsThatDoNotSayWhatTheyMust(t *testing.T) {
	for _, test := range []struct {
		group  string
		points []point
		want   string
	}{
		{"curve", nil, "printed no point"},
		{"curve", []point{{"touched", 8, []float64{0}}}, "too little work"},
		{"memory", nil, "rss_over_live"},
	} {
		series := &mallocSeries{runs: []mallocRun{{row: "r", allocator: ours, printed: printed{points: test.points}}}}
		if _, err := figuresOf([]mallocRow{{name: "r", group: test.group}}, series); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test, err)
		}
	}
}

func TestBytesText(t *testing.T) {
	for size, want := range map[float64]string{8: "8", 1024: "1K", 1536: "1.5K", 57345: "57345", 4 << 20: "4M", 1 << 30: "1G"} {
		if got := bytesText(size); got != want {
			t.Errorf("%v: %s, want %s", size, got, want)
		}
	}
}

func TestRawFiguresHoldEveryRound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "raw.csv")
	figures := []figure{
		{row: "loop, long", of: peakRSS, values: map[string][]float64{ours: {1 << 20, 2 << 20}}},
		{row: "sizes", group: "curve", series: "touched", x: 64, of: cpuTime, values: map[string][]float64{ours: {5.5, 6}, system: {7, 8}}},
	}
	if err := writeRaw(path, []allocator{{name: system}, {name: ours}}, figures); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	want := "row,series,x,quantity,unit,glibc,libmallow\n" +
		"\"loop, long\",,,peak RSS,bytes,,1.0486e+06 2.0972e+06\n" +
		"sizes,touched,64,CPU,ns per operation,7 8,5.5 6\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}
