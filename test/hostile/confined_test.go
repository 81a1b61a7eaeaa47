package hostile

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// systemCalls are those that the manual says libmallow makes: while the program runs, further ones where recording
// starts, and with --cpu.
func systemCalls(t *testing.T) (running, starting, sampling []string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(harness.Root(), "docs", "manual", "record.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(page), "While the program runs these are")
	list, _, _ = strings.Cut(list, "\n\n")
	parts := strings.Split(list, ";")
	if len(parts) != 3 {
		t.Fatalf("the manual has %d lists of system calls: %s", len(parts), list)
	}
	named := func(part string) (names []string) {
		for _, m := range regexp.MustCompile("`([a-z_0-9]+)`").FindAllStringSubmatch(part, -1) {
			names = append(names, m[1])
		}
		return names
	}
	return named(parts[0]), named(parts[1]), named(parts[2])
}

// A program that allows itself its own system calls and those that the manual names is not killed.
func TestSandboxAsTheManualSays(t *testing.T) {
	running, starting, sampling := systemCalls(t)
	plugin := harness.Program(t, "programs/plugin_a.so")
	for _, test := range []struct {
		what    string
		flags   []string
		further []string
	}{
		{what: "first"},
		{what: "./" + filepath.Base(plugin)},
		{what: "./" + filepath.Base(plugin), flags: []string{"--log"}},
		{what: "first", flags: []string{"--sample", "1K"}},
		{what: "./" + filepath.Base(plugin), flags: []string{"--cpu"}, further: sampling},
		{what: "child", further: starting},
	} {
		t.Run(strings.Join(append([]string{test.what}, test.flags...), " "), func(t *testing.T) {
			allowed := append(append([]string{}, running...), test.further...)
			command := harness.Command{
				Arguments: append([]string{harness.Program(t, "programs/confined"), test.what}, allowed...),
				Flags:     test.flags, Directory: filepath.Dir(plugin),
			}
			recorded, _ := harness.Record(t, command)
			command.Settings = []string{"LD_PRELOAD=" + harness.Library(t)}
			for how, result := range map[string]harness.Result{"recorded": recorded, "on libmallow": harness.Run(t, command)} {
				switch {
				case result.Status == 3:
					t.Skip("this kernel has no seccomp filters")
				case result.Status != 5:
					t.Errorf("%s: %s", how, result.Ending())
				}
			}
		})
	}
}

// What a process has made as another user it cannot take away, and does not try to: servers let children that serve the
// world drop their rights and allow themselves next to nothing.
func TestSandboxOfAnotherUser(t *testing.T) {
	needsRoot(t, "become another user")
	running, _, _ := systemCalls(t)
	allowed := slices.DeleteFunc(running, func(name string) bool { return name == "unlinkat" })
	result := harness.Run(t, harness.Command{Arguments: append([]string{
		harness.CLI(t), "run", "--control", harness.TempDir(t), harness.Program(t, "programs/confined"), "nobody",
	}, allowed...)})
	switch result.Status {
	case 3:
		t.Skip("this kernel has no seccomp filters")
	case 5:
	default:
		t.Error(result.Ending())
	}
}
