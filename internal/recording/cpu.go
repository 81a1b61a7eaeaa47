package recording

import "io"

// CPUPart tells whose CPU time a sample stands for; from CPUNoRoom on, why
// there is none.
type CPUPart uint32

const (
	CPUProgram     CPUPart = iota
	CPUAllocator           // libmallow's, when it serves malloc and free
	CPURecorder            // libmallow's, when it captures and counts
	CPUSampler             // the samples themselves
	CPUNoRoom              // the stack could not be stored
	CPUNoTimer             // a thread got no timer
	CPUSignalTaken         // the program handled the signal itself
	cpuParts
)

const cpuSampleBytes = 32

// CPUSample is the CPU time of one stack.
type CPUSample struct {
	Node        uint32 // innermost frame; 0 where no stack could be had
	Part        CPUPart
	Nanoseconds uint64
	Samples     uint64
}

// No process can have used more: what claims to is damaged, and sums of what
// is not stay numbers.
const (
	mostCPUNanoseconds = 1 << 56 // two years
	mostCPUSamples     = 1 << 44
)

func (im *Image) readCPUSamples(r io.ReaderAt) {
	damaged, time := 0, uint64(0)
	used := im.sections[sectionCPUSamples].used
	im.read(r, sectionCPUSamples, func(chunk []byte) {
		im.cpu = room(im.cpu, len(chunk)/cpuSampleBytes, used)
		for ; len(chunk) >= cpuSampleBytes; chunk = chunk[cpuSampleBytes:] {
			s := CPUSample{
				Node: le.Uint32(chunk), Part: CPUPart(le.Uint32(chunk[4:])),
				Nanoseconds: le.Uint64(chunk[8:]), Samples: le.Uint64(chunk[16:]),
			}
			if s.Part >= cpuParts || s.Nanoseconds > mostCPUNanoseconds || s.Samples > mostCPUSamples || time > mostCPUNanoseconds {
				damaged++
				continue
			}
			time += s.Nanoseconds
			im.cpu = append(im.cpu, s)
		}
	})
	if damaged > 0 {
		im.warn("damaged: CPU samples that cannot be, left out: %d", damaged)
	}
}

// CPUSamples returns the CPU time by stack. A stack may occur under several
// parts.
func (im *Image) CPUSamples() []CPUSample { return im.cpu }
