package json

import "mallow/internal/profile"

type sampling struct {
	MeanBytes uint64  `json:"mean_bytes"`
	Samples   uint64  `json:"samples"`
	Errors    *errors `json:"errors"`
}

type errors struct {
	Allocations float64 `json:"allocations"`
	Bytes       float64 `json:"bytes"`
	LiveBlocks  float64 `json:"live_blocks"`
	LiveBytes   float64 `json:"live_bytes"`
}

func samplingKeys(p *profile.Profile) *sampling {
	if p.Sampling == nil {
		return nil
	}
	return &sampling{p.Sampling.MeanBytes, p.Sampling.Samples, errorKeys(p.Sampling.Errors)}
}

func errorKeys(e profile.Errors) *errors {
	return &errors{e.Allocations, e.Bytes, e.LiveBlocks, e.LiveBytes}
}
