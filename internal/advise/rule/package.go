package rule

import (
	"regexp"
	"slices"
	"strings"

	"mallow/internal/profile"
)

// packages are where package managers put the sources of others, whose lines are
// compiled into the program: of Rust's crates, of its library, of C++ in headers.
var packages = []string{
	"/share/cargo/registry/", "/rustc/", "/rustlib/src/",
	"/usr/include/", "/usr/local/include/", "/.conan/data/", "/.conan2/p/", "/vcpkg_installed/",
}

// cargoHome has the sources of crates below any folder that CARGO_HOME names: by
// their registry or repository, with a hash of its address.
var cargoHome = regexp.MustCompile(`/(registry/src|git/checkouts)/[^/]+-[0-9a-f]{16}/`)

// generated are the sources that the build scripts of crates write: mostly those of
// packages, and nobody changes them by hand.
var generated = regexp.MustCompile(`/build/[^/]+-[0-9a-f]{16}/out/`)

// OfPackage tells whether a file is the source of a package, which who reads the
// advice can hardly change.
func OfPackage(file string) bool {
	return cargoHome.MatchString(file) || generated.MatchString(file) || slices.ContainsFunc(packages, func(folder string) bool { return strings.Contains(file, folder) })
}

// UserOfPackages returns the line nearest to the site that is in the same module,
// and in no package, if nearly all calls come through one; else the zero Frame.
func (s *Site) UserOfPackages() profile.Frame {
	for _, f := range s.Outer() {
		if f.File != "" && !OfPackage(f.File) && f.Module == s.Module {
			return f
		}
	}
	return profile.Frame{}
}
