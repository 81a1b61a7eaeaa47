package gocode

import (
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"mallow/internal/own"
)

//go:embed overlay/exact.go
var exactSource string

//go:embed overlay/sample.go
var sampleSource string

// cpuVariable, if it is set to anything, lets a program that counts sample its
// CPU time, too.
const cpuVariable = "MALLOW_GO_CPU"

// countsVariable names, in the environment of a program that counts, the
// folder for its files.
const countsVariable = "MALLOW_GO_COUNTS"

// edit puts text behind an anchor in a file of package runtime. The anchor
// must be there exactly once from the place where the search begins.
type edit struct {
	file   string
	from   string // where the search for the anchor begins
	anchor string
	text   string
}

// edits are the same for all versions that have the anchors. Whether they do
// what they should is found out by the self-test.
var edits = []edit{
	{
		"malloc.go", "\nfunc mallocgc(", "\tif size == 0 {\n\t\treturn unsafe.Pointer(&zerobase)\n\t}\n",
		"\tif mallowOn {\n\t\tmallowCount(size, typ)\n\t}\n",
	},
	{"proc.go", "\nfunc main() {", "\tmainStarted = true\n", "\tmallowStart()\n"},
	{"proc.go", "\nfunc runExitHooks(", "\texithook.Run(code)\n", "\tmallowCheck()\n"},
}

// sampling is done without where the anchor is not found.
var sampling = edit{
	"proc.go", "\nfunc sigprof(", "\tif prof.hz.Load() != 0 {\n",
	"\t\tif mallowSample(stk[:n]) {\n\t\t\tgetg().m.mallocing--\n\t\t\treturn\n\t\t}\n",
}

// UnknownVersionError says why programs of a version of Go cannot count.
type UnknownVersionError struct{ Version, Reason string }

func (e *UnknownVersionError) Error() string {
	return fmt.Sprintf("%s: allocations cannot be counted exactly: %s", e.Version, e.Reason)
}

// overlayFile writes what `go build -overlay` takes for this version and
// returns its path. user is another overlay to join in, "" for none. Files are
// named by what is in them, so that they never change and are made once.
func (t *Toolchain) overlayFile(user string) (string, error) {
	if t.OS != "linux" || t.Arch != "amd64" {
		return "", &UnknownVersionError{t.Version, fmt.Sprintf("on %s/%s nobody has tried; linux/amd64 works", t.OS, t.Arch)}
	}
	files, err := t.runtimeFiles()
	if err != nil {
		return "", err
	}
	base, err := cacheFolder()
	if err != nil {
		return "", err
	}
	replace := make(map[string]string)
	if user != "" {
		if replace, err = readOverlay(user); err != nil {
			return "", err
		}
	}
	folder := t.runtimeFolder()
	for name, content := range files {
		path := filepath.Join(folder, name)
		if _, taken := replace[path]; taken {
			return "", fmt.Errorf("the overlay %s replaces %s, as mallow must", user, path)
		}
		if replace[path], err = keep(base, name, []byte(content)); err != nil {
			return "", err
		}
	}
	all, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return keep(base, "overlay.json", all)
}

func (t *Toolchain) runtimeFolder() string { return filepath.Join(t.Root, "src", "runtime") }

// runtimeFiles returns the files of package runtime that differ, by name.
func (t *Toolchain) runtimeFiles() (map[string]string, error) {
	files := map[string]string{"mallow_exact.go": sourceOf(exactSource)}
	for _, e := range edits {
		if err := t.edit(files, e); err != nil {
			return nil, err
		}
	}
	if t.edit(files, sampling) == nil {
		files["mallow_sample.go"] = sourceOf(sampleSource)
	} else {
		files["mallow_sample.go"] = "package runtime\n\nfunc mallowStartSampling([]byte) {}\n"
	}
	return files, nil
}

// sourceOf leaves the build constraint out.
func sourceOf(file string) string {
	_, body, _ := strings.Cut(file, "\n\n")
	return body
}

// edit changes one of the files, which it reads if that is not done yet.
func (t *Toolchain) edit(files map[string]string, e edit) error {
	content, read := files[e.file]
	if !read {
		data, err := os.ReadFile(filepath.Join(t.runtimeFolder(), e.file))
		if err != nil {
			return &UnknownVersionError{t.Version, err.Error()}
		}
		content = string(data)
	}
	begin := strings.Index(content, e.from)
	if begin < 0 {
		return t.moved(e)
	}
	at := strings.Index(content[begin:], e.anchor)
	if at < 0 {
		return t.moved(e)
	}
	at += begin + len(e.anchor)
	files[e.file] = content[:at] + e.text + content[at:]
	return nil
}

func (t *Toolchain) moved(e edit) error {
	return &UnknownVersionError{t.Version, fmt.Sprintf("its runtime/%s is not as known", e.file)}
}

func readOverlay(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var overlay struct{ Replace map[string]string }
	if err := json.Unmarshal(data, &overlay); err != nil {
		return nil, fmt.Errorf("%s: no overlay: %w", path, err)
	}
	return maps.Clone(overlay.Replace), nil
}

// keep writes a file that is named by its content, unless it is there.
func keep(folder, name string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	path := filepath.Join(folder, fmt.Sprintf("%x", sum[:8]), name)
	if old, err := os.ReadFile(path); err == nil && sha256.Sum256(old) == sum {
		return path, nil
	}
	return path, own.Replace(path, content)
}
