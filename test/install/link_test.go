package install

import (
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

// expectServed runs a program and holds it to the word that mallow serves it.
func expectServed(t *testing.T, program string, settings ...string) {
	t.Helper()
	output := must(t, harness.Command{Arguments: []string{program}, Settings: settings, Input: "a line\n"})
	if !strings.HasPrefix(output, "mallow") {
		t.Errorf("%s: %q", filepath.Base(program), output)
	}
}

// libraryPath makes the loader look into the installed tree.
func libraryPath(t testing.TB) string { return "LD_LIBRARY_PATH=" + filepath.Join(tree(t), "lib") }

// pkgConfig returns the words that pkg-config gives for a package of the installed tree. They may be quoted for a shell:
// the prefix has a blank in it.
func pkgConfig(t *testing.T, arguments ...string) []string {
	t.Helper()
	output := must(t, harness.Command{
		Arguments: append([]string{tool(t, "pkg-config", "pkg-config"), "--cflags", "--libs"}, arguments...),
		Settings:  []string{"PKG_CONFIG_PATH=" + filepath.Join(tree(t), "lib", "pkgconfig")},
	})
	words := must(t, harness.Command{Arguments: []string{"/bin/sh", "-c", `eval "set -- $1"; printf '%s\n' "$@"`, "sh", output}})
	return strings.Split(strings.TrimSpace(words), "\n")
}

func TestPreload(t *testing.T) {
	program := compiled(t, "served.c", "-DPRELOADED", "-I"+filepath.Join(harness.Root(), "include"))
	without := must(t, harness.Command{Arguments: []string{program}, Input: "a line\n"})
	if without != "not mallow\n" {
		t.Fatalf("without preload: %q", without)
	}
	mallow := harness.CLI(t)
	output := must(t, harness.Command{
		Arguments: []string{"/bin/sh", "-c", `LD_PRELOAD=$("$1" lib) "$2"`, "sh", mallow, program},
		Input:     "a line\n",
		Settings:  []string{"HOME=" + t.TempDir()},
	})
	if !strings.HasPrefix(output, "mallow ") {
		t.Errorf("with preload: %q", output)
	}
	expectServed(t, program, "LD_PRELOAD="+filepath.Join(preloadable(t), "libmallow_minimal.so"))
}

// preloadable is a folder of the installed libraries without a blank in its path, at which the loader splits LD_PRELOAD.
func preloadable(t *testing.T) string {
	t.Helper()
	prefix := filepath.Join(harness.TempDir(t), "prefix")
	harness.Install(t, prefix, "mallow")
	return filepath.Join(prefix, "lib")
}

func TestPkgConfig(t *testing.T) {
	for _, source := range []string{"served.c", "served.cc"} {
		for name, library := range map[string]string{"mallow": "libmallow.so", "mallow-minimal": "libmallow_minimal.so"} {
			t.Run(name+" "+source, func(t *testing.T) {
				program := compiled(t, source, append([]string{"-Wl,--as-needed"}, pkgConfig(t, name)...)...)
				expectNeeds(t, program, library)
				expectServed(t, program, libraryPath(t))
			})
			t.Run(name+" -static "+source, func(t *testing.T) {
				program := compiled(t, source, append([]string{"-static"}, pkgConfig(t, "--static", name)...)...)
				expectServed(t, program)
			})
			t.Run(name+"-static "+source, func(t *testing.T) {
				program := compiled(t, source, pkgConfig(t, name+"-static")...)
				expectServed(t, program)
			})
		}
	}
}

// expectNeeds holds a program to asking the loader for a library.
func expectNeeds(t *testing.T, program, library string) {
	t.Helper()
	dynamic := must(t, harness.Command{Arguments: []string{tool(t, "readelf", "binutils"), "-dW", program}})
	if !strings.Contains(dynamic, "["+library+"]") {
		t.Errorf("%s does not ask for %s", program, library)
	}
}

// A program that never calls malloc itself is served all the same: libc does.
func TestLinkedWithoutACall(t *testing.T) {
	program := compiled(t, "silent.c", append([]string{"-Wl,--as-needed"}, pkgConfig(t, "mallow")...)...)
	expectNeeds(t, program, "libmallow.so")
	expectServed(t, program, libraryPath(t))
	expectServed(t, compiled(t, "silent.c", pkgConfig(t, "mallow-static")...))
}

// A program that the linker optimizes, and that names the archive by hand, is served wholly or its blocks go astray.
func TestLinkTimeOptimization(t *testing.T) {
	for _, name := range []string{"libmallow.a", "libmallow_minimal.a"} {
		for _, how := range []string{"-rdynamic", "-static"} {
			t.Run(name+" "+how, func(t *testing.T) {
				archive := filepath.Join(tree(t), "lib", name)
				program := compiled(t, "optimized.c", "-flto", "-fbuiltin", how, archive)
				expectServed(t, program)
			})
		}
	}
}

// A library that the archive is linked into stays when it is closed, as libmallow.so does: threads that it has served end later.
func TestClosedPlugin(t *testing.T) {
	closes := compiled(t, "closed.c", "-pthread", "-ldl")
	for _, name := range []string{"mallow-static", "mallow-minimal-static"} {
		t.Run(name, func(t *testing.T) {
			arguments := append([]string{"-DPLUGIN", "-shared", "-fPIC", "-Wl,-Bsymbolic"}, pkgConfig(t, name)...)
			plugin := compiled(t, "closed.c", arguments...)
			if output := must(t, harness.Command{Arguments: []string{closes, plugin}}); output != "mallow\n" {
				t.Errorf("it wrote %q", output)
			}
		})
	}
}

func TestCMakePackage(t *testing.T) {
	cmake := tool(t, "cmake", "cmake")
	build := filepath.Join(t.TempDir(), "build")
	must(t, harness.Command{Arguments: []string{
		cmake, "-S", project("cmake"), "-B", build, "-DCMAKE_PREFIX_PATH=" + tree(t), "-DSOURCES=" + project(""),
	}})
	must(t, harness.Command{Arguments: []string{cmake, "--build", build}})
	for _, target := range []string{"mallow", "static", "minimal", "minimal_static"} {
		for _, language := range []string{"c", "cc"} {
			expectServed(t, filepath.Join(build, target+"_"+language))
		}
	}
}

// The targets can be asked for as components; one that there is none of is named.
func TestCMakeComponents(t *testing.T) {
	cmake := tool(t, "cmake", "cmake")
	for components, says := range map[string]string{
		"static":                                "found: 1",
		"mallow;static;minimal;minimal_static":  "found: 1",
		"static;OPTIONAL_COMPONENTS;recorder":   "found: 1",
		"recorder":                              "it has no component recorder; those are mallow, static, minimal and minimal_static",
		"static;recorder;OPTIONAL_COMPONENTS;x": "it has no component recorder; those are mallow, static, minimal and minimal_static",
	} {
		result := harness.Run(t, harness.Command{Arguments: []string{
			cmake, "-S", project("components"), "-B", filepath.Join(t.TempDir(), "build"), "-DCMAKE_PREFIX_PATH=" + tree(t), "-DCOMPONENTS=" + components,
		}})
		if text := strings.Join(strings.Fields(result.Output+result.Errors), " "); !strings.Contains(text, says) {
			t.Errorf("%s: %q is missing in\n%s%s", components, says, result.Output, result.Errors)
		}
	}
}
