package json

import "mallow/internal/advise"

type advice struct {
	Rule     string  `json:"rule"`
	Title    string  `json:"title"`
	Remedy   string  `json:"remedy"`
	Sites    []frame `json:"sites"` // the line to change first
	Saves    saves   `json:"saves"`
	Evidence string  `json:"evidence"`
}

type saves struct {
	Allocations   uint64   `json:"allocations"`
	Bytes         uint64   `json:"bytes"`
	MemoryBytes   uint64   `json:"memory_bytes"` // held less at the peak
	AtMost        bool     `json:"at_most"`      // the allocations are the most that can be saved
	Share         float64  `json:"share"`
	CPUShare      *float64 `json:"cpu_share"`
	CPUShareBasis *string  `json:"cpu_share_basis"`
}

func adviceKeys(all []advise.Advice) []advice {
	keys := make([]advice, len(all))
	for i := range all {
		a := &all[i]
		keys[i] = advice{Rule: a.Rule, Title: a.Title, Remedy: a.Remedy, Evidence: a.Evidence, Sites: make([]frame, len(a.Sites))}
		for k := range a.Sites {
			keys[i].Sites[k] = frameKeys(&a.Sites[k].Frame)
		}
		s := &a.Saves
		keys[i].Saves = saves{s.Allocations, s.Bytes, s.Memory, s.AtMost, s.Share, s.CPUShare, known(s.Basis)}
	}
	return keys
}
