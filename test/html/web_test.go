package html

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"mallow/test/harness"
	"mallow/test/html/browser"
)

const handmade = "format/testdata/handmade/single-thread.mallow"

// TestWeb shows a report to a browser over loopback, and to nobody without the
// token.
func TestWeb(t *testing.T) {
	command := exec.Command(harness.CLI(t), "report", "--web", filepath.Join(harness.Root(), handmade))
	command.Env = harness.Environment()
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	defer func() {
		command.Process.Kill()
		<-ended
	}()
	first, err := bufio.NewReader(out).ReadString('\n')
	go func() { ended <- command.Wait() }()
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(first)
	m := regexp.MustCompile(`^(http://127\.0\.0\.1:\d+)/[A-Z2-7]{26}/$`).FindStringSubmatch(address)
	if m == nil {
		t.Fatalf("the first line is %q", first)
	}
	for url, want := range map[string]int{address: 200, m[1] + "/": 403, m[1] + "/AAAAAAAAAAAAAAAAAAAAAAAAAA/": 403, address + "x": 404} {
		response, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %s", url, response.Status)
		}
	}

	page := browser.Open(t, address)
	page.Wait(`document.body.classList.contains("ready")`)
	if got := page.Text("#overview .tile"); !strings.Contains(got, "1,072") {
		t.Errorf("the first tile is %q", got)
	}
	for _, problem := range page.Problems() {
		if !strings.Contains(problem, "favicon.ico") {
			t.Error(problem)
		}
	}

	command.Process.Signal(syscall.SIGINT)
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Ctrl-C: %v", err)
		}
		ended <- nil
	case <-time.After(harness.Patience):
		t.Error("Ctrl-C does not end it")
	}
}

// TestFile holds what report --html does with the file.
func TestFile(t *testing.T) {
	recording := filepath.Join(harness.Root(), handmade)
	folder := t.TempDir()
	file := filepath.Join(folder, "report.html")
	run := func(arguments ...string) harness.Result {
		return harness.Run(t, harness.Command{Arguments: append([]string{harness.CLI(t), "report"}, arguments...)})
	}
	if r := run("--html", file, recording); r.Status != 0 || r.Output != "" {
		t.Fatalf("%+v", r)
	}
	first, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(first), "<!doctype html>") || !strings.HasSuffix(string(first), "</html>\n") {
		t.Fatalf("%v: %.100s", err, first)
	}
	for name, arguments := range map[string][]string{
		"no recording":      {"--html", file, filepath.Join(folder, "none.mallow")},
		"no folder":         {"--html", filepath.Join(folder, "none", "report.html"), recording},
		"a folder":          {"--html", folder, recording},
		"and JSON":          {"--html", file, "--json", recording},
		"and a web address": {"--html", file, "--web", recording},
	} {
		r := run(arguments...)
		if r.Status != 1 || r.Output != "" || strings.Count(r.Errors, "\n") != 1 {
			t.Errorf("%s: %+v", name, r)
		}
	}
	again, _ := os.ReadFile(file)
	if string(again) != string(first) {
		t.Error("what failed changed the file")
	}
	if entries, _ := os.ReadDir(folder); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}
