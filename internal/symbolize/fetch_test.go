package symbolize

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/internal/symbolize/debuginfod"
	"mallow/test/harness"
)

// startDebuginfod runs Debian's server over the files below dir.
func startDebuginfod(t *testing.T, dir string) *url.URL {
	t.Helper()
	server := need(t, "debuginfod")
	port := harness.FreePort(t)
	c := exec.Command(server, "-F", "-d", filepath.Join(t.TempDir(), "db"), "-p", fmt.Sprint(port), "-t", "1", dir)
	c.Env = append(os.Environ(), "HOME="+t.TempDir(), "DEBUGINFOD_URLS=")
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	u, err := url.Parse(fmt.Sprintf("http://127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// await waits until the server has scanned a file.
func await(t *testing.T, server *url.URL, id []byte, kind FetchKind) {
	t.Helper()
	within, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for within.Err() == nil {
		if r, err := http.Get(fmt.Sprintf("%s/buildid/%x/%s", server, id, kind)); err == nil {
			r.Body.Close()
			if r.StatusCode == http.StatusOK {
				return
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("the server did not find its files in five minutes")
}

func TestDebuginfod(t *testing.T) {
	p := plain(t, "g++", "inline.cc", "-O2", "-g")
	served := t.TempDir()
	binary := duplicate(t, p.binary)
	id := buildID(t, binary)
	copyFile(t, binary, filepath.Join(served, "program"))
	copyFile(t, binary, filepath.Join(served, "other"))
	runIn(t, served, "dwz", "-m", filepath.Join(served, "shared.debug"), "-M", "/nowhere/shared.debug", "program", "other")
	if err := os.Remove(filepath.Join(served, "other")); err != nil {
		t.Fatal(err)
	}
	runIn(t, served, "objcopy", "--only-keep-debug", "program", "program.debug")
	strip(t, filepath.Join(served, "program"))
	stripped := duplicate(t, filepath.Join(served, "program"))
	server := startDebuginfod(t, served)
	await(t, server, id, debuginfod.Debuginfo)
	await(t, server, id, debuginfod.Executable)
	shared, err := openObject(filepath.Join(served, "shared.debug"))
	if err != nil {
		t.Fatal(err)
	}
	defer shared.close()
	await(t, server, shared.buildID, debuginfod.Debuginfo)

	folder := filepath.Join(t.TempDir(), "debuginfod_client")
	settings := debuginfod.Settings{URLs: []*url.URL{server}, Folder: folder, Timeout: 5 * time.Minute, MostSize: 1 << 30}
	frames := func(m Module) (frames [][]Frame, warnings, said []string) {
		t.Helper()
		client := debuginfod.New(settings, func(text string) {
			if !strings.HasPrefix(text, "waiting for ") { // a busy machine
				said = append(said, text)
			}
		})
		s := New(Options{DebugDirs: []string{}, Fetch: client.Find})
		defer s.Close()
		return s.Frames(m, p.addrs), s.Warnings(), said
	}
	m := Module{Path: stripped, BuildID: id}
	for _, times := range []int{2, 0} { // the debug file and the shared one; the next time none
		got, warnings, said := frames(m)
		if len(said) != times || len(warnings) > 0 {
			t.Errorf("said %q, warnings %q", said, warnings)
		}
		p.equal(t, got)
	}

	t.Run("the program is gone", func(t *testing.T) {
		got, warnings, said := frames(Module{Path: filepath.Join(filepath.Dir(binary), "away", "program"), BuildID: id})
		if len(said) != 1 || !strings.Contains(said[0], "the program for program from") || len(warnings) > 0 {
			t.Errorf("said %q, warnings %q", said, warnings)
		}
		p.equal(t, got)
	})

	t.Run("the reference client", func(t *testing.T) {
		find := func(id []byte) string {
			t.Helper()
			c := exec.Command(need(t, "debuginfod-find"), "debuginfo", hex.EncodeToString(id))
			c.Env = append(os.Environ(), "DEBUGINFOD_CACHE_PATH="+folder, "DEBUGINFOD_URLS=http://127.0.0.1:9") // nobody answers
			out, _ := c.CombinedOutput()
			return strings.TrimSpace(string(out))
		}
		want := filepath.Join(folder, hex.EncodeToString(id), "debuginfo")
		if got := find(id); got != want {
			t.Errorf("it finds %q, not our %q", got, want)
		}
		// What it has fetched is found, too.
		other := filepath.Join(t.TempDir(), "reference")
		c := exec.Command(need(t, "debuginfod-find"), "debuginfo", hex.EncodeToString(id))
		c.Env = append(os.Environ(), "DEBUGINFOD_CACHE_PATH="+other, "DEBUGINFOD_URLS="+server.String())
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("debuginfod-find: %v: %s", err, out)
		}
		settings := settings
		settings.Folder, settings.URLs = other, []*url.URL{{Scheme: "http", Host: "127.0.0.1:9"}}
		path, err := debuginfod.New(settings, nil).Find(id, debuginfod.Debuginfo, "x", nil)
		if err != nil || path != filepath.Join(other, hex.EncodeToString(id), "debuginfo") {
			t.Errorf("%s, %v", path, err)
		}
	})

	t.Run("nobody has it", func(t *testing.T) {
		unknown := duplicate(t, compile(t, "gcc", "nested.c", "-O2", "-g"))
		strip(t, unknown)
		m := Module{Path: unknown, BuildID: buildID(t, unknown)}
		for range 2 {
			if _, warnings, said := frames(m); len(said) > 0 || len(warnings) != 1 || !strings.Contains(warnings[0], "stripped") {
				t.Errorf("said %q, warnings %q", said, warnings)
			}
		}
	})
}

// Whoever put a file into the cache, its build id must be the one asked for.
func TestFetchedIsChecked(t *testing.T) {
	binary := duplicate(t, compile(t, "gcc", "nested.c", "-O2", "-g"))
	strip(t, binary)
	id := buildID(t, binary)
	tests := map[string]struct {
		path string
		want string
	}{
		"another build":     {compile(t, "g++", "inline.cc", "-O2", "-g"), "another build id"},
		"no debug file":     {binary, "no debug information"},
		"no ELF file":       {"testdata/nested.c", "what it sends is no program, nor of one"},
		"a folder":          {t.TempDir(), "could not be fetched"},
		"not there at once": {filepath.Join(t.TempDir(), "x"), "could not be fetched"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			refused := errors.New("not checked")
			s := New(Options{DebugDirs: []string{}, Fetch: func(_ []byte, _ FetchKind, _ string, check func(string) error) (string, error) {
				refused = check(test.path)
				return test.path, nil
			}})
			defer s.Close()
			frames := s.Frames(Module{Path: binary, BuildID: id}, []uint64{0x1130})
			if w := strings.Join(s.Warnings(), "\n"); refused == nil || !strings.Contains(w, test.want) {
				t.Errorf("%v: warnings %q", refused, w)
			}
			if frames[0][0].File != "" {
				t.Errorf("it was used: %v", frames)
			}
		})
	}
}
