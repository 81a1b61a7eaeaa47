package recording_test

import (
	"bytes"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

// What no process can have used is damage, and never part of a sum.
func TestImpossibleCPUSamplesAreLeftOut(t *testing.T) {
	for name, damage := range map[string]func(im *recordingtest.Image){
		"a time of centuries": func(im *recordingtest.Image) { im.CPU(recording.CPUProgram, 1<<63, 1) },
		"too many samples":    func(im *recordingtest.Image) { im.CPU(recording.CPUProgram, 1, 1<<63) },
		"no such part":        func(im *recordingtest.Image) { im.CPU(99, 1, 1) },
		"a sum beyond all": func(im *recordingtest.Image) {
			im.CPU(recording.CPUProgram, 1<<56, 1)
			im.CPU(recording.CPUProgram, 1<<56, 1)
			im.CPU(recording.CPUProgram, 7, 1)
		},
	} {
		made := recordingtest.NewImage(1, "/bin/demo")
		made.SampledCPU(5_000_000, 1_000_000)
		made.CPU(recording.CPUProgram, 5, 1, recordingtest.Call(0, 0x1000))
		damage(made)
		b := made.Bytes()
		im, err := recording.ReadImage(made.Name, bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		var sum uint64
		for _, s := range im.CPUSamples() {
			sum += s.Nanoseconds
		}
		if sum > 1<<58 || im.CPUSamples()[0].Nanoseconds != 5 {
			t.Errorf("%s: %v", name, im.CPUSamples())
		}
		if len(im.Warnings) != 1 {
			t.Errorf("%s: warnings %q, want one", name, im.Warnings)
		}
	}
}
