package gocode

import (
	"os"
	"path/filepath"

	"github.com/google/pprof/profile"

	"mallow/internal/launch"
)

// StockBuilder builds programs with the runtime as it is. Their benchmarks are
// measured by the runtime's own profile at its finest rate, which sees only
// the first of several tiny objects that share a block.
func StockBuilder(goFlags []string, why *UnknownVersionError) (*Builder, error) {
	t, err := FindToolchain()
	if err != nil {
		return nil, err
	}
	return &Builder{Toolchain: t, GoFlags: withSymbols(goFlags, t.Flags), stock: why}, nil
}

// stockRun measures by the runtime's own profile.
func (t *Tests) stockRun(args []string) (*measured, error) {
	folder, err := launch.Scratch()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "heap")
	if _, err := t.execute(t.stock, nil, append(args, "-test.memprofile="+path, "-test.memprofilerate=1")); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p, err := profile.Parse(f)
	if err != nil {
		return nil, err
	}
	m := new(measured)
	for _, s := range p.Sample {
		stack := Stack{Allocs: float64(s.Value[0]), Bytes: float64(s.Value[1])}
		for _, l := range s.Location {
			for _, line := range l.Line {
				if line.Function != nil {
					stack.Frames = append(stack.Frames, Frame{line.Function.Name, line.Function.Filename, int(line.Line), t.origins.of(line.Function.Name)})
				}
			}
		}
		m.stacks = append(m.stacks, stack)
	}
	return m, nil
}
