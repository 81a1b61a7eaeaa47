package launch

import (
	"fmt"
	"testing"

	"mallow/internal/recording"
)

func TestUnrecordedPrograms(t *testing.T) {
	path := func(paths ...string) (programs []program) {
		for _, p := range paths {
			programs = append(programs, program{path: p})
		}
		return programs
	}
	image := func(pid uint64, executable string) recording.Identity {
		return recording.Identity{PID: pid, Executable: executable}
	}
	forked := func(pid uint64, executable string) recording.Identity {
		return recording.Identity{PID: pid, Executable: executable, Forked: true}
	}
	sh := watched{pid: 1, programs: path("/bin/sh")}
	for name, test := range map[string]struct {
		seen   []watched
		heard  bool
		images []recording.Identity
		want   string
	}{
		"all recorded":          {[]watched{sh, {pid: 2, parent: 1, programs: path("/bin/cat")}}, true, []recording.Identity{image(1, "/bin/sh"), image(2, "/bin/cat")}, "[]"},
		"one not":               {[]watched{sh, {pid: 2, parent: 1, programs: path("/bin/go")}}, true, []recording.Identity{image(1, "/bin/sh"), forked(2, "/bin/sh")}, "[/bin/go 1 static]"},
		"thrice, one gone soon": {[]watched{sh, {pid: 2, programs: path("/bin/go")}, {pid: 3, programs: path("/bin/go")}, {pid: 4, programs: []program{{name: "go"}}}}, true, []recording.Identity{image(1, "/bin/sh")}, "[/bin/go 3 static]"},
		"gone too soon":         {[]watched{sh, {pid: 2, programs: []program{{name: "go"}}}}, true, []recording.Identity{image(1, "/bin/sh")}, "[go 1 it ended before mallow could look at it]"},
		"gone, but recorded":    {[]watched{sh, {pid: 2, programs: []program{{name: "cat"}}}}, true, []recording.Identity{image(1, "/bin/sh"), image(2, "/bin/cat")}, "[]"},
		"other rights":          {[]watched{sh, {pid: 2, programs: []program{{name: "su", hidden: true}}}}, false, []recording.Identity{image(1, "/bin/sh"), forked(2, "/bin/sh")}, "[su 1 it runs with other rights, so that the system ignores LD_PRELOAD]"},
		"a fork child":          {[]watched{sh, {pid: 2, parent: 1, programs: path("/bin/sh")}}, false, []recording.Identity{image(1, "/bin/sh")}, "[]"},
		"seen before it began":  {[]watched{{pid: 1, programs: path("/opt/mallow", "/bin/sh")}, {pid: 2, parent: 1, programs: path("/bin/go")}}, false, []recording.Identity{image(1, "/bin/sh")}, "[/opt/mallow 1 static /bin/go 1 static]"},
		"by another mallow":     {[]watched{sh, {pid: 2, parent: 1, programs: path("/opt/mallow")}, {pid: 3, parent: 2, programs: path("/bin/go")}}, true, []recording.Identity{image(1, "/bin/sh"), image(2, "/opt/mallow")}, "[/bin/go 1 another mallow started it: what it allocates is in the recording of that one, if in any]"},
		"below another mallow":  {[]watched{sh, {pid: 2, parent: 1, programs: path("/opt/mallow")}, {pid: 3, parent: 2, programs: path("/opt/mallow", "/bin/dash")}, {pid: 4, parent: 3, programs: path("/bin/make")}, {pid: 5, parent: 4, programs: path("/bin/go")}}, true, []recording.Identity{image(1, "/bin/sh"), image(2, "/opt/mallow"), image(3, "/opt/mallow"), image(3, "/bin/dash"), image(4, "/bin/make")}, "[/bin/go 1 another mallow started it: what it allocates is in the recording of that one, if in any]"},
		"by it and otherwise":   {[]watched{sh, {pid: 2, parent: 1, programs: path("/opt/mallow")}, {pid: 3, parent: 2, programs: path("/bin/go")}, {pid: 4, parent: 1, programs: path("/bin/go")}, {pid: 5, parent: 1, programs: []program{{name: "go"}}}}, true, []recording.Identity{image(1, "/bin/sh"), image(2, "/opt/mallow")}, "[/bin/go 1 another mallow started it: what it allocates is in the recording of that one, if in any /bin/go 2 static]"},
		"a process id again":    {[]watched{sh, {pid: 2, parent: 3, programs: path("/bin/go")}, {pid: 3, parent: 2, programs: path("/bin/go")}}, true, []recording.Identity{image(1, "/bin/sh")}, "[/bin/go 2 static]"},
		"for another mallow":    {[]watched{sh, {pid: 2, parent: 1, programs: path("/opt/mallow")}, {pid: 3, parent: 2, programs: path("/opt/mallow", "/memfd:calibrate")}, {pid: 4, parent: 2, programs: []program{{path: "/opt/mallow"}, {name: "calibrate"}}}}, true, []recording.Identity{image(1, "/bin/sh"), image(2, "/opt/mallow"), image(3, "/opt/mallow"), image(4, "/opt/mallow")}, "[]"},
		"calibrate of others":   {[]watched{sh, {pid: 2, parent: 1, programs: path("/memfd:calibrate")}}, true, []recording.Identity{image(1, "/bin/sh")}, "[/memfd:calibrate 1 static]"},
		"another pid namespace": {[]watched{sh, {pid: 2, parent: 1, programs: path("/bin/cat")}}, true, []recording.Identity{image(1, "/bin/sh"), image(77, "/bin/cat")}, "[]"},
	} {
		got := unrecordedPrograms(test.seen, test.heard, test.images, func(string) string { return "static" })
		text := []string{}
		for _, u := range got {
			text = append(text, fmt.Sprint(u.Executable, " ", u.Processes, " ", u.Reason))
		}
		if fmt.Sprint(text) != test.want {
			t.Errorf("%s: %v, want %s", name, text, test.want)
		}
	}
}
