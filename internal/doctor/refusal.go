package doctor

import (
	"debug/elf"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"mallow/internal/launch"
)

// Refusal is why mallow cannot record a program, and what to do instead.
type Refusal struct {
	Path   string
	Reason string
	Remedy string
}

func (r *Refusal) Error() string {
	return fmt.Sprintf("%s %s; %s", launch.Quote(r.Path), r.Reason, r.Remedy)
}

// Refuses returns nil when the program in the file path can run on libmallow,
// and also when the file cannot be read: what may be executed but not read is
// tried.
func Refuses(path string) *Refusal {
	p, err := inspect(path, false)
	if err == nil && p.OwnMalloc {
		p, err = inspect(path, true) // to name that malloc
	}
	switch {
	case errors.Is(err, errNotELF):
		return &Refusal{path, "is no program for this system", "give mallow an ELF program or a script"}
	case err != nil:
		return nil
	}
	return p.Refusal()
}

// Refusal judges p. The order is from the fact that explains the others.
func (p *Program) Refusal() *Refusal {
	no := func(reason, remedy string) *Refusal { return &Refusal{p.Path, reason, remedy} }
	switch {
	case p.Machine != ourMachine || p.Class != elf.ELFCLASS64:
		return no("is "+article(p.architecture())+" program, and this libmallow is for 64-bit "+machineName(ourMachine),
			"build it for 64-bit "+machineName(ourMachine))
	case p.Minimal:
		return no("is linked with libmallow's minimal library, which has no recorder", "link it with libmallow.a in its place")
	case p.Recorder:
		return p.gainsRights()
	case p.Library:
		return no("is a shared library, not a program", "give mallow the program that loads it")
	case p.Interpreter == "" && p.GoVersion != "":
		return no("is a static Go program: Go's own runtime allocates for it, and there is no malloc to record",
			"mallow go run shows the allocations of Go programs")
	case p.Interpreter == "":
		return no("is linked statically, so no other malloc can be put under it",
			"link it dynamically, or link it again with libmallow.a (-Wl,-u,malloc,--eh-frame-hdr -l:libmallow.a)")
	case strings.Contains(filepath.Base(p.Interpreter), "musl"):
		return no("is built for the libc musl, and libmallow is for glibc", "build it for glibc")
	case !strings.HasPrefix(filepath.Base(p.Interpreter), "ld-linux"):
		return no("is started by "+launch.Quote(p.Interpreter)+", which is not glibc's dynamic linker", "build it for glibc")
	case p.Privilege.Any():
		return p.gainsRights()
	case p.Sanitizer != "":
		return no("is built with "+p.Sanitizer+", which must be its malloc itself", "build it without -fsanitize")
	case p.OwnMalloc:
		return no("brings a malloc of its own"+p.heapNames()+", which libmallow cannot replace",
			"build it without that malloc, or link it with libmallow.a in its place")
	}
	return nil
}

// gainsRights judges what p gains over its caller, nil when that is nothing.
func (p *Program) gainsRights() *Refusal {
	consequence := ", so the system ignores LD_PRELOAD"
	if p.Recorder {
		consequence = ", so the libmallow in it ignores its settings"
	}
	no := func(reason, remedy string) *Refusal { return &Refusal{p.Path, reason + consequence, remedy} }
	switch {
	case p.Privilege.User != "":
		return no("runs as user "+p.Privilege.User+" (setuid)",
			"run mallow as that user, or record a copy of the file, which has no such bit")
	case p.Privilege.Group != "":
		return no("runs as group "+p.Privilege.Group+" (setgid)", "record a copy of the file, which has no such bit")
	case p.Privilege.Capabilities:
		return no("has file capabilities", "run mallow as root, or record a copy of the file, which has none")
	}
	return nil
}

// heapNames are those of allocators that may be the program's malloc.
func (p *Program) heapNames() string {
	var names []string
	for _, heap := range p.OwnHeaps {
		if heap.Build == withoutIt {
			names = append(names, heap.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// ourMachine is what libmallow beside this executable is built for.
var ourMachine = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]

func (p *Program) architecture() string {
	if p.Class == elf.ELFCLASS32 {
		return "32-bit " + machineName(p.Machine)
	}
	return machineName(p.Machine)
}

func machineName(m elf.Machine) string {
	switch m {
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_386:
		return "x86"
	case elf.EM_AARCH64:
		return "aarch64"
	}
	return strings.ToLower(strings.TrimPrefix(m.String(), "EM_"))
}

func article(noun string) string {
	if strings.ContainsRune("aeiou", rune(noun[0])) {
		return "an " + noun
	}
	return "a " + noun
}
