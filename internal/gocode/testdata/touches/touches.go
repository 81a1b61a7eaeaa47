// Package touches has functions that must not be called with made-up
// arguments, and some that may.
package touches

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"syscall"
	"time"
)

type remover interface{ Remove(name string) error }

var (
	hook    func(string)
	out     io.Writer = os.Stdout
	current remover
)

type tree struct {
	left, right *tree
	on          func(string)
}

func removes(name string) error { return os.RemoveAll(name) } // touches: os.RemoveAll

func removesThere(name string) error { return removes("/" + name) } // touches: os.RemoveAll

func executes(name string) error { return exec.Command(name).Run() } // touches: os/exec.Run

func kills(pid int) error { return syscall.Kill(pid, 9) } // touches: syscall.Kill

func prints(name string) { fmt.Println(name) } // touches: fmt.Println

func printsOut(name string) { fmt.Fprintln(out, name) } // touches: nothing

func writesOut(name string) { out.Write([]byte(name)) } // touches: method of an interface

func callsHook(name string) { hook(name) } // touches: function value

func (t *tree) callsField(name string) { t.on(name) } // touches: function value

func (t *tree) depth() int { // touches: nothing
	if t == nil {
		return 0
	}
	return 1 + max(t.left.depth(), t.right.depth())
}

func callsInterface(name string) error { return current.Remove(name) } // touches: method of an interface

func looksAtFiles(name string) []string { // touches: path/filepath.Glob
	found, _ := filepath.Glob(name)
	return found
}

func namesFiles(name string) string { return filepath.Join(name, "x") } // touches: nothing

func sleeps(n int) { time.Sleep(time.Duration(n)) } // touches: time.Sleep

func starts(name string) { go strings.ToUpper(name) } // touches: goroutine

func sends(c chan string) { c <- "x" } // touches: waits for others

func sorts(words []string) string { // touches: nothing
	less := func(i, j int) bool { return words[i] < words[j] }
	sort.Slice(words, less)
	var b bytes.Buffer
	for _, w := range words {
		fmt.Fprintf(&b, "%s\n", w)
	}
	return b.String()
}

func writesTo(w io.Writer, name string) error { // touches: nothing
	_, err := w.Write([]byte(name))
	return err
}
