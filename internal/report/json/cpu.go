package json

import "mallow/internal/profile"

// cpuKeys are where the CPU time went; malloc_share is that of total_s, which
// leaves out what libmallow used to record (recorder_s) and to sample
// (sampler_s). process_s is what the sampled processes used, used_s what the
// family did, with exec, exit, and processes without an image. lost counts samples without a stack.
type cpuKeys struct {
	IntervalS      float64       `json:"interval_s"`
	Samples        uint64        `json:"samples"`
	Lost           uint64        `json:"lost"`
	TotalS         float64       `json:"total_s"`
	ProcessS       float64       `json:"process_s"`
	UsedS          *float64      `json:"used_s"`
	MallocShare    *float64      `json:"malloc_share"`
	RecorderS      float64       `json:"recorder_s"`
	SamplerS       float64       `json:"sampler_s"`
	TruncatedShare *float64      `json:"truncated_share"`
	Unsampled      uint64        `json:"unsampled_threads"`
	SignalTaken    uint64        `json:"signal_taken"`
	Functions      []cpuFunction `json:"functions"`
	Callers        []cpuCaller   `json:"malloc_callers"`
}

type cpuFunction struct {
	Function *string `json:"function"`
	Module   *string `json:"module"`
	FlatS    float64 `json:"flat_s"`
	CumS     float64 `json:"cum_s"`
}

type cpuCaller struct {
	Function *string `json:"function"`
	Module   *string `json:"module"`
	CPUS     float64 `json:"cpu_s"`
}

func cpuOf(p *profile.Profile) *cpuKeys {
	cpu := p.CPU()
	if cpu == nil {
		return nil
	}
	keys := &cpuKeys{
		IntervalS: inSeconds(cpu.Interval), Samples: cpu.Samples, Lost: cpu.Lost,
		TotalS: inSeconds(cpu.Total), ProcessS: inSeconds(cpu.Process),
		RecorderS: inSeconds(cpu.Recorder), SamplerS: inSeconds(cpu.Sampler),
		Unsampled: cpu.NoTimer, SignalTaken: cpu.SignalTaken,
		MallocShare: share(cpu.Allocator, cpu.Total), TruncatedShare: share(cpu.Truncated, cpu.Total),
		Functions: make([]cpuFunction, len(cpu.Functions)), Callers: make([]cpuCaller, len(cpu.Callers)),
	}
	if cpu.Used > 0 {
		used := inSeconds(cpu.Used)
		keys.UsedS = &used
	}
	for i, f := range cpu.Functions {
		keys.Functions[i] = cpuFunction{known(f.Function), known(f.Module), inSeconds(f.Flat), inSeconds(f.Cum)}
	}
	for i, f := range cpu.Callers {
		keys.Callers[i] = cpuCaller{known(f.Function), known(f.Module), inSeconds(f.Flat)}
	}
	return keys
}

func inSeconds(nanoseconds uint64) float64 { return float64(nanoseconds) / 1e9 }

func share(part, whole uint64) *float64 {
	if whole == 0 {
		return nil
	}
	s := float64(part) / float64(whole)
	return &s
}
