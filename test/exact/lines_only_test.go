package exact

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mallow/test/harness"
)

const containers = `#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <vector>
static volatile unsigned long sink;
__attribute__((noinline)) void evens(const std::vector<int>& all) {
  std::vector<int> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [](int n) { return n % 2 == 0; });
  sink = some.size();
}
__attribute__((noinline)) void names(int n) {
  std::map<std::string, std::string> all;
  for (int i = 0; i < n; ++i) all["a name with a number " + std::to_string(i)] = std::string(40, 'x');
  for (auto [name, value] : all) sink = name.size() + value.size();
}
int main() {
  std::vector<int> all(64, 2);
  for (int i = 0; i < 100; ++i) evens(all);
  names(100);
}
`

const collections = `use std::collections::BTreeMap;
// As std::hint::black_box of Rust 1.66.
fn opaque<T: Copy>(value: T) -> T { unsafe { std::ptr::read_volatile(&value) } }
#[inline(never)]
fn evens(all: &[i32]) { opaque(all.iter().filter(|n| **n % 2 == 0).collect::<Vec<_>>().len()); }
#[inline(never)]
fn names(n: usize) {
    let mut all = BTreeMap::new();
    for i in 0..n { all.insert(format!("a name with a number {}", i), "x".repeat(40)); }
    for (name, value) in all.clone() { opaque(name.len() + value.len()); }
}
fn main() {
    let all = vec![2; 64];
    for _ in 0..100 { evens(opaque(&all)); }
    names(100);
}
`

// rustLines asks rustc for them.
const (
	rustLines = "debuginfo=" + linesOnly
	linesOnly = "line-tables-only"
)

// Compilers can be asked for lines alone: then what is inlined from a library has neither class nor namespace in its
// name, and only its file tells that it allocates for who called it.
func TestLinesAlone(t *testing.T) {
	for _, compiler := range [][]string{
		{"clang++", "-std=c++17", "-O2", "-gline-tables-only"}, {"g++", "-std=c++17", "-O2", "-g1"},
		{"rustc", "-O", "-C", rustLines},
	} {
		t.Run(compiler[0], func(t *testing.T) {
			// A rustc of rustup's is there without a toolchain, too.
			if err := exec.Command(compiler[0], "--version").Run(); err != nil {
				t.Skipf("%s: %v", compiler[0], err)
			}
			name, text := "uses.cc", containers
			if compiler[0] == "rustc" {
				name, text = "uses.rs", collections
			}
			folder := harness.TempDir(t)
			source, program := filepath.Join(folder, name), filepath.Join(folder, "uses")
			if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			compile := func(args []string) ([]byte, error) {
				return exec.Command(compiler[0], append(args, "-o", program, source)...).CombinedOutput()
			}
			out, err := compile(compiler[1:])
			if err != nil && strings.Contains(string(out), linesOnly) { // before Rust 1.71: 1 was lines alone then
				out, err = compile([]string{"-O", "-C", "debuginfo=1"})
			}
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			_, recording := harness.Record(t, harness.Command{Arguments: []string{program}})
			calls := make(map[string]uint64)
			var elsewhere uint64
			for _, s := range harness.ReadReport(t, recording).Sites {
				switch {
				case filepath.Base(s.File) == name:
					calls[harness.PlainName(s.Function)] += s.Allocations
				case s.Module == program:
					elsewhere += s.Allocations
					t.Logf("%d by %s %s:%d", s.Allocations, s.Function, s.File, s.Line)
				}
			}
			if calls["evens"]+calls["uses::evens"] < 300 || calls["names"]+calls["uses::names"] < 400 || elsewhere > 10 {
				t.Errorf("%v, and %d elsewhere", calls, elsewhere)
			}
		})
	}
}
