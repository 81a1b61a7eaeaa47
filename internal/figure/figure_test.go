package figure_test

import (
	"testing"
	"time"

	"mallow/internal/figure"
)

func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		figure.Count(0):                         "0",
		figure.Count(999):                       "999",
		figure.Count(1_000):                     "1,000",
		figure.Count(12_345_678):                "12,345,678",
		figure.Counted(1, "call", "calls"):      "1 call",
		figure.Counted(2, "call", "calls"):      "2 calls",
		figure.Size(999):                        "999 B",
		figure.Size(1_000):                      "1.00 kB",
		figure.Size(9_996):                      "10.0 kB",
		figure.Size(640_000):                    "640 kB",
		figure.Size(999_600):                    "1.00 MB",
		figure.Size(1<<64 - 1):                  "18.4 EB",
		figure.Rough(1.5, 3):                    "1.5",
		figure.Rough(18.26, 3):                  "18.3",
		figure.Rough(999.4, 3):                  "999",
		figure.Rough(999.6, 3):                  "1,000",
		figure.Rough(12_345, 3):                 "12,345",
		figure.Rough(5.07, 2):                   "5.1",
		figure.Rough(1250, 2):                   "1,250",
		figure.Percent(0, 0):                    "-",
		figure.Percent(0, 7):                    "0 %",
		figure.Percent(1, 1_000_000):            "<0.1 %",
		figure.Percent(999_999, 1_000_000):      "99 %",
		figure.Percent(1, 20):                   "5.0 %",
		figure.Percent(1_000_000, 1_000_000):    "100 %",
		figure.Time(0):                          "0 ms",
		figure.Time(999_900 * time.Microsecond): "1.0 s",
		figure.Time(12 * time.Millisecond):      "12 ms",
		figure.Time(10_099 * time.Millisecond):  "10.1 s",
		figure.Time(99_960 * time.Millisecond):  "1m40s",
		figure.Time(125 * time.Second):          "2m5s",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
