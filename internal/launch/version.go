package launch

import (
	"fmt"
	"runtime"
)

// Version is that of mallow and libmallow alike (CMakeLists.txt has it too).
const Version = "0.1.0"

// commit is set by the linker.
var commit string

// Describe returns the version with what it was built from and for.
func Describe() string {
	from := ""
	if commit != "" {
		from = " (" + commit + ")"
	}
	return fmt.Sprintf("mallow %s%s %s/%s %s", Version, from, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
