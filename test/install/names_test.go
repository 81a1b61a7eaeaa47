package install

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mallow/test/harness"
)

// headers are the macros by which the programs include the interface.
func headers(folder, malloc, extension string) []string {
	return []string{
		`-DHEADER=<` + folder + "/" + malloc + `>`, `-DEXTENSION_HEADER=<` + folder + "/" + extension + `>`,
	}
}

func TestTcNames(t *testing.T) {
	for _, source := range []string{"tc.c", "tc.cc"} {
		for _, packages := range [][]string{{"mallow"}, {"mallow-minimal"}, {"mallow-static"}, {"--static", "mallow"}} {
			t.Run(strings.Join(packages, " ")+" "+source, func(t *testing.T) {
				arguments := append(headers("mallow", "tc.h", "tc_extension.h"), pkgConfig(t, packages...)...)
				if packages[0] == "--static" {
					arguments = append(arguments, "-static")
				}
				if len(packages) > 1 || packages[0] == "mallow-static" {
					arguments = append(arguments, "-lstdc++") // tc_new throws, also when C calls it
				}
				expectServed(t, compiled(t, source, arguments...), libraryPath(t))
			})
		}
	}
}

// Programs written for tcmalloc: its headers, its library names, its pkg-config files.
func TestTcmallocNames(t *testing.T) {
	lib := filepath.Join(tree(t), "lib")
	flags := []string{"-I" + filepath.Join(tree(t), "include"), "-L" + lib, "-Werror"}
	for name, arguments := range map[string][]string{
		"gperftools":              slices.Concat(headers("gperftools", "tcmalloc.h", "malloc_extension_c.h"), flags, []string{"-ltcmalloc"}),
		"google":                  slices.Concat(headers("google", "tcmalloc.h", "malloc_extension_c.h"), flags, []string{"-ltcmalloc_minimal"}),
		"static":                  slices.Concat(headers("gperftools", "tcmalloc.h", "malloc_extension_c.h"), flags, []string{"-static", "-ltcmalloc", "-lstdc++"}),
		"pkg-config":              slices.Concat(headers("gperftools", "tcmalloc.h", "malloc_extension_c.h"), pkgConfig(t, "libtcmalloc")),
		"pkg-config tcmalloc_min": slices.Concat(headers("gperftools", "tcmalloc.h", "malloc_extension_c.h"), pkgConfig(t, "libtcmalloc_minimal")),
	} {
		for _, source := range []string{"tc.c", "tc.cc"} {
			t.Run(name+" "+source, func(t *testing.T) {
				expectServed(t, compiled(t, source, arguments...), libraryPath(t))
			})
		}
	}
}

// What Debian's libtcmalloc_minimal.so.4 of gperftools 2.10 exports of its C interface for allocation, its hooks aside.
const ofGperftools = `
MallocExtension_GetAllocatedSize MallocExtension_GetEstimatedAllocatedSize MallocExtension_GetNumericProperty
MallocExtension_GetOwnership MallocExtension_GetStats MallocExtension_GetThreadCacheSize
MallocExtension_MallocMemoryStats MallocExtension_MarkThreadBusy MallocExtension_MarkThreadIdle
MallocExtension_MarkThreadTemporarilyIdle MallocExtension_ReleaseFreeMemory MallocExtension_ReleaseToSystem
MallocExtension_SetNumericProperty MallocExtension_VerifyAllMemory MallocExtension_VerifyArrayNewMemory
MallocExtension_VerifyMallocMemory MallocExtension_VerifyNewMemory
tc_calloc tc_cfree tc_delete tc_delete_aligned tc_delete_aligned_nothrow tc_delete_nothrow tc_delete_sized
tc_delete_sized_aligned tc_deletearray tc_deletearray_aligned tc_deletearray_aligned_nothrow tc_deletearray_nothrow
tc_deletearray_sized tc_deletearray_sized_aligned tc_free tc_free_sized tc_mallinfo tc_malloc tc_malloc_size
tc_malloc_skip_new_handler tc_malloc_stats tc_mallopt tc_memalign tc_nallocx tc_new tc_new_aligned
tc_new_aligned_nothrow tc_new_nothrow tc_newarray tc_newarray_aligned tc_newarray_aligned_nothrow tc_newarray_nothrow
tc_posix_memalign tc_pvalloc tc_query_new_mode tc_realloc tc_set_new_mode tc_valloc tc_version`

func TestExportsWhatTcmallocExports(t *testing.T) {
	for _, name := range []string{"libmallow.so", "libmallow_minimal.so", "libtcmalloc.so.4", "libtcmalloc_minimal.so.4"} {
		library := filepath.Join(tree(t), "lib", name)
		exported := strings.Fields(must(t, harness.Command{Arguments: []string{tool(t, "nm", "binutils"), "-D", "--defined-only", "--format=posix", library}}))
		for _, symbol := range strings.Fields(ofGperftools) {
			if !slices.Contains(exported, symbol) {
				t.Errorf("%s does not export %s", name, symbol)
			}
		}
		dynamic := must(t, harness.Command{Arguments: []string{tool(t, "readelf", "binutils"), "-dW", library}})
		if !strings.Contains(dynamic, "soname: ["+name+"]") {
			t.Errorf("the soname of %s is another", name)
		}
	}
}

// mallow preloads libmallow.so before such a program: that one serves, and the library of the program keeps still.
func TestRecordProgramOfTcmalloc(t *testing.T) {
	arguments := append(headers("gperftools", "tcmalloc.h", "malloc_extension_c.h"), pkgConfig(t, "libtcmalloc")...)
	program := compiled(t, "tc.c", arguments...)
	result, recording := harness.Record(t, harness.Command{Arguments: []string{program}, Settings: []string{libraryPath(t)}})
	if result.Status != 0 || strings.Contains(result.Errors, "cannot record") {
		t.Fatalf("%s\n%s%s", result.Ending(), result.Output, result.Errors)
	}
	report := harness.ReadReport(t, recording)
	if len(report.Processes) != 1 || report.Totals.Mallocs < 100000 {
		t.Errorf("%d processes, %d mallocs", len(report.Processes), report.Totals.Mallocs)
	}
}

func TestMinimalSaysThatItCannotRecord(t *testing.T) {
	folder := t.TempDir()
	program := compiled(t, "silent.c")
	result := harness.Run(t, harness.Command{
		Arguments: []string{program}, Input: "a line\n",
		Settings: []string{"LD_PRELOAD=" + filepath.Join(preloadable(t), "libmallow_minimal.so"), "MALLOW_OPTIONS=record=" + folder},
	})
	if result.Status != 0 || result.Output != "mallow\n" || result.Errors != "mallow: cannot record: this is the minimal library, which has no recorder; use libmallow.so\n" {
		t.Errorf("%s\n%s%s", result.Ending(), result.Output, result.Errors)
	}
	if left := files(t, folder); len(left) != 0 {
		t.Errorf("left %v", left)
	}
}

// mallow record does not start a program to record nothing of it.
func TestMinimalIsNoRecorder(t *testing.T) {
	minimal := filepath.Join(preloadable(t), "libmallow_minimal.so")
	result := harness.Run(t, harness.Command{
		Arguments: []string{harness.CLI(t), "record", "/bin/echo", "started"}, Directory: t.TempDir(),
		Settings: []string{"MALLOW_LIB=" + minimal},
	})
	want := "mallow: MALLOW_LIB names " + minimal + ", the minimal library, which has no recorder\n"
	if result.Status != 125 || result.Output != "" || result.Errors != want {
		t.Errorf("%s\n%s%s", result.Ending(), result.Output, result.Errors)
	}
}
