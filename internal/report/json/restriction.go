package json

import (
	"regexp"

	"mallow/internal/profile"
)

// restriction is what the report is of, where that is not all. allocations_of
// are those with nothing left out but processes and threads. With a phase,
// allocations_surely are those at stacks that were active in no other time.
type restriction struct {
	Include          []string `json:"include"`
	Exclude          []string `json:"exclude"`
	Origins          []string `json:"origins"`
	Modules          []string `json:"modules"`
	Processes        []string `json:"processes"`
	Threads          []string `json:"threads"`
	Region           *string  `json:"region"`
	MaxSize          *uint64  `json:"max_size"`
	Phase            *string  `json:"phase"`
	PhaseFromS       *float64 `json:"phase_from_s"`
	PhaseToS         *float64 `json:"phase_to_s"`
	PhaseAllocations *uint64  `json:"phase_allocations"`
	Surely           *uint64  `json:"allocations_surely"`
	AllocationsOf    uint64   `json:"allocations_of"`
	Inexact          uint64   `json:"inexact_live_allocations"`
}

// restrictionKeys returns null for a report of everything.
func restrictionKeys(p *profile.Profile) *restriction {
	r := &p.Restriction
	if !p.Restricted() && len(r.Processes) == 0 {
		return nil
	}
	keys := &restriction{
		Include: patterns(r.Include), Exclude: patterns(r.Exclude), Origins: []string{},
		Modules: list(r.Modules), Processes: list(r.Processes), Threads: list(r.Threads),
		Region: known(r.Region), MaxSize: r.MaxSize, AllocationsOf: sumOf(&r.Whole), Inexact: r.Mixed,
	}
	for _, origin := range r.Origins {
		keys.Origins = append(keys.Origins, origin.String())
	}
	if span := r.Active; span != nil {
		from, to, surely := span.From.Seconds(), span.To.Seconds(), sumOf(&r.Surely)
		keys.Phase, keys.PhaseFromS, keys.PhaseToS = &span.Name, &from, &to
		keys.PhaseAllocations, keys.Surely = &span.Allocations, &surely
	}
	return keys
}

func sumOf(calls *[profile.Origins]uint64) (sum uint64) {
	for _, n := range calls {
		sum += n
	}
	return sum
}

func list(of []string) []string { return append([]string{}, of...) }

func patterns(expressions []*regexp.Regexp) []string {
	texts := []string{}
	for _, e := range expressions {
		texts = append(texts, e.String())
	}
	return texts
}
