package compare

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"mallow/internal/measure"
)

// Work is what a run does.
type Work struct {
	Amount float64
	Unit   string // "B" for bytes; "" where it was not named
}

var amount = regexp.MustCompile(`^([0-9][0-9,_]*(?:\.[0-9]+)?(?:[eE][0-9]+)?)\s*([kKMGT]?)(i?)(B|bytes)?(?:\s+(\S.*))?$`)

// ParseWork reads "80GB", "512 MiB", "1,000,000 requests", "20k lines".
func ParseWork(text string) (*Work, error) {
	parts := amount.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil {
		return nil, fmt.Errorf("an amount such as 80GB, 512MiB or '1000 requests'")
	}
	number, prefix, binary, bytes, unit := parts[1], parts[2], parts[3], parts[4], parts[5]
	n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(number), 64)
	if err != nil || !(n > 0) || math.IsInf(n, 0) {
		return nil, fmt.Errorf("an amount above 0")
	}
	factor := 1000.0
	if binary != "" {
		factor = 1024
	}
	if prefix != "" {
		n *= math.Pow(factor, float64(strings.Index("kMGT", strings.Replace(prefix, "K", "k", 1))+1))
	}
	if bytes != "" {
		unit = "B"
	}
	return &Work{n, unit}, nil
}

// throughput is what the run did in a second, 0 where nothing tells.
func (s *session) throughput(run *measure.Run) (float64, error) {
	if s.o.Work != nil {
		return s.o.Work.Amount / run.Wall.Seconds(), nil
	}
	if s.o.Metric == nil {
		return 0, nil
	}
	for _, output := range [][]byte{run.Stdout, run.Stderr} {
		matches := s.o.Metric.FindAllSubmatch(output, -1)
		if len(matches) == 0 {
			continue
		}
		last := matches[len(matches)-1]
		text := string(last[min(1, len(last)-1)])
		value, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 64)
		if err != nil || !(value > 0) || math.IsInf(value, 0) {
			return 0, fmt.Errorf("--metric: %q is no number above 0", clipped(text))
		}
		return value, nil
	}
	return 0, fmt.Errorf("--metric: nothing that the command prints matches %q", clipped(s.o.Metric.String()))
}
