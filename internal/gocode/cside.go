package gocode

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mallow/internal/launch"
	"mallow/internal/profile"
	"mallow/internal/recording"
	"mallow/internal/symbolize"
)

// calls are those of a C function with one Go stack.
type calls struct {
	count uint64
	first uint64 // sum of the first words of the arguments: bytes, where it is malloc
	fn    uint64 // address of the function
	pcs   []uint64
}

// callSize marks, as the size of a record, that it is one of calls.
const callSize = ^uint64(0)

// CSide are the allocations of C in a process, by libmallow, which was
// preloaded.
type CSide struct {
	Allocs, Bytes uint64
	Live          uint64 // blocks never freed
	RuntimeAllocs uint64 // of them, of C's start and of threads
	stacks        []Stack
}

// sanitized tells whether flags let a program have an allocator of its own,
// which none must be preloaded before.
func sanitized(goFlags []string) bool {
	return slices.ContainsFunc(goFlags, func(flag string) bool {
		switch strings.TrimLeft(flag, "-") {
		case "race", "msan", "asan", "race=true", "msan=true", "asan=true":
			return true
		}
		return false
	})
}

// recordC returns the settings that let C's allocations be recorded into a new
// folder.
func recordC(folder string) (settings []string, err error) {
	library, err := launch.Library()
	if err != nil {
		return nil, err
	}
	if err := os.Mkdir(folder, 0o700); err != nil {
		return nil, err
	}
	environment := os.Environ()
	return []string{launch.Preload(environment, launch.Preloaded(library)), launch.RecordInto(environment, folder, launch.RecordOptions{})}, nil
}

// errNoRecording tells that nothing was recorded of a process.
var errNoRecording = errors.New("nothing was recorded")

// Caller is the Go function that a function of C allocates for, nil where
// nobody knows.
func (l *Line) Caller() *Frame {
	if !l.C || packageOf(l.Function) != "" || len(l.Stacks) == 0 {
		return nil
	}
	frames := l.Stacks[0].Frames
	at := slices.Index(frames, l.Frame)
	for i := at + 1; at >= 0 && i < len(frames); i++ {
		if f := &frames[i]; f.Origin == OriginOwn && packageOf(f.Function) != "" {
			return f
		}
	}
	return nil
}

// cSide reads what was recorded of the process that c is of. Stacks of C
// continue with those of the Go code that called: that of the only caller, or
// else a part for each caller, by the number of its calls.
func (n *namer) cSide(folder string, c *Counts) (*CSide, error) {
	r, err := recording.Open(folder)
	if err != nil {
		return nil, err
	}
	symbolizer := symbolize.New(symbolize.Options{})
	defer symbolizer.Close()
	p := profile.New([]*recording.Recording{r}, profile.Options{Symbolizer: symbolizer, Processes: []string{fmt.Sprint(c.PID)}})
	if len(p.Processes) == 0 {
		return nil, errNoRecording
	}
	callers := n.callers(c)
	side := new(CSide)
	err = p.EachStack(p.Sites, func(_ *profile.Site, s *profile.Stack) error {
		side.Allocs += s.Allocations
		side.Bytes += s.Counters.Bytes
		side.Live += uint64(s.Counters.LiveBlocks())
		frames, wrapper := n.cFrames(s.Frames)
		stack := Stack{
			Frames: frames, C: true, Allocs: float64(s.Allocations), Bytes: float64(s.Counters.Bytes), Live: float64(s.Counters.LiveBlocks()),
		}
		if s.Counters.SizeMin == s.Counters.SizeMax {
			stack.Size = s.Counters.SizeMax
		}
		if isStart(frames) {
			side.RuntimeAllocs += s.Allocations
			return nil
		}
		side.stacks = append(side.stacks, among(stack, callers[wrapper], strings.HasSuffix(wrapper, mallocWrapper))...)
		return nil
	})
	return side, err
}

// mallocWrapper ends the name of the function by which C.malloc, C.CString and
// C.CBytes call malloc, once each time.
const mallocWrapper = "_Cfunc__Cmalloc"

// isStart tells whether C allocated for its own start or for a thread that the
// runtime makes.
func isStart(frames []Frame) bool {
	return slices.ContainsFunc(frames, func(f Frame) bool {
		return strings.HasPrefix(f.Function, "x_cgo_") || strings.HasPrefix(f.Function, "_cgo_")
	})
}

// among gives each caller its part of a stack: of malloc itself what it asked
// for, of others a part by the number of calls. Which blocks are freed nobody
// knows by caller.
func among(s Stack, callers []Stack, ofMalloc bool) []Stack {
	var all float64
	for i := range callers {
		all += callers[i].Allocs
	}
	if all == 0 {
		return []Stack{s}
	}
	var parts []Stack
	for i := range callers {
		part := callers[i].Allocs / all
		p := s
		p.Frames = slices.Concat(s.Frames, callers[i].Frames)
		p.Allocs, p.Bytes = s.Allocs*part, s.Bytes*part
		if ofMalloc && s.Allocs == all {
			p.Allocs, p.Bytes = callers[i].Allocs, callers[i].Bytes
		}
		if len(callers) > 1 {
			p.Live, p.LiveShared = 0, s.Live
			p.Shared = !ofMalloc
		}
		parts = append(parts, p)
	}
	return parts
}

// wrapperName is what cgo calls the C function by which Go calls another.
var wrapperName = regexp.MustCompile(`^_cgo_[0-9a-f]+_C2?func_`)

// cFrames returns the frames of C up to the function by which Go called it,
// and that one's name; all and "" where Go did not.
func (n *namer) cFrames(all []profile.Frame) (frames []Frame, wrapper string) {
	for i := range all {
		f := &all[i]
		if wrapperName.MatchString(f.Function) {
			return frames, f.Function
		}
		origin := OriginStandard
		switch {
		case f.Module == n.module.Path && !strings.HasPrefix(f.Function, "x_cgo_") && !strings.HasPrefix(f.Function, "_cgo_") && !strings.HasPrefix(f.Function, "runtime."):
			origin = OriginOwn
		case f.Module != n.module.Path && !isLibc(f.Module):
			origin = OriginDependency
		}
		frames = append(frames, Frame{f.Function, f.File, f.Line, origin})
	}
	return frames, ""
}

func isLibc(module string) bool {
	name := filepath.Base(module)
	return strings.HasPrefix(name, "libc.so") || strings.HasPrefix(name, "libc-") || strings.HasPrefix(name, "ld-linux") || strings.HasPrefix(name, "libpthread")
}

// callers returns by the name of the C function the Go stacks that call it.
func (n *namer) callers(c *Counts) map[string][]Stack {
	bias := n.bias(c)
	var addresses, stacks [][]uint64
	for _, call := range c.calls {
		addresses = append(addresses, []uint64{call.fn + 1})
		stacks = append(stacks, call.pcs)
	}
	functions, named := n.frames(addresses, bias), n.frames(stacks, bias)
	byName := make(map[string][]Stack)
	for _, call := range c.calls {
		frames := functions[call.fn-bias]
		if len(frames) == 0 {
			continue
		}
		s := Stack{Allocs: float64(call.count), Bytes: float64(call.first)}
		for _, pc := range call.pcs {
			s.Frames = append(s.Frames, named[pc-1-bias]...)
		}
		s.Frames = slices.DeleteFunc(s.Frames, func(f Frame) bool { return f.Function == "runtime.cgocall" })
		name := frames[len(frames)-1].Function
		byName[name] = append(byName[name], s)
	}
	for _, all := range byName {
		slices.SortFunc(all, compareStacks)
	}
	return byName
}

// explainC gives lines that let C allocate their reasons.
func explainC(all []*Line) {
	for _, l := range all {
		if !l.C {
			continue
		}
		switch l.Callee {
		case "":
			l.Why = "the C function calls malloc"
		default:
			what, known := cAlternatives[shortName(l.Callee)]
			if !known {
				l.Why = shortName(l.Callee) + " allocates in C"
				continue
			}
			l.Why, l.Remedy, l.Rule = shortName(l.Callee)+": "+what.why, what.remedy, "library"
		}
		if l.Live > 0 && l.Live >= l.Allocs/2 {
			l.Why += "; most of it is never freed"
		} else if l.LiveShared > 0 {
			l.Why += fmt.Sprintf("; %.0f blocks of it and of other callers are never freed", l.LiveShared)
		}
	}
}

// cAlternatives are what cgo itself provides.
var cAlternatives = map[string]alternative{
	"C.CString": {why: "it copies the string into memory of C, which C.free must release", remedy: "keep one copy where the text is always the same; or pass unsafe.StringData and the length to a function that takes one"},
	"C.CBytes":  {why: "it copies the bytes into memory of C, which C.free must release", remedy: "pass unsafe.SliceData and the length: C may read memory of Go for as long as the call takes"},
	"C.malloc":  {why: "it allocates in C", remedy: "a variable of Go whose address is passed, where C does not keep it; or one block that is kept"},
}

// merged puts lines of Go and of C into one ranking.
func merged(goLines, cLines []*Line) []*Line {
	all := slices.Concat(goLines, cLines)
	slices.SortStableFunc(all, func(a, b *Line) int { return cmp.Or(cmp.Compare(b.Allocs, a.Allocs), cmp.Compare(b.Bytes, a.Bytes)) })
	return all
}
