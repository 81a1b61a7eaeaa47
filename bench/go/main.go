// Command go tries mallow go out on modules that were not written for it: it
// fetches the modules of modules.txt, counts and fixes a benchmark of each, and
// writes docs/go-modules.md. It is run at the root of the repository, with
// build/mallow built:
//
//	go run ./bench/go            all of them
//	go run ./bench/go -only NAME the modules of that name; the others keep their figures
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

const (
	list     = "bench/go/modules.txt"
	judged   = "bench/go/judgements.txt"
	results  = "bench/results/go"
	page     = "docs/go-modules.md"
	trees    = "build/bench/go" // copies of the modules
	executed = "build/mallow"
)

func main() {
	only := flag.String("only", "", "one `module` of the list")
	write := flag.Bool("page", false, "only write the page anew")
	flag.Parse()
	if err := survey(*only, *write); err != nil {
		fmt.Fprintln(os.Stderr, "bench/go:", err)
		os.Exit(1)
	}
}

func survey(only string, write bool) error {
	modules, err := readModules(list)
	if err != nil {
		return err
	}
	for _, m := range modules {
		if write || only != "" && only != m.name {
			continue
		}
		fmt.Fprintln(os.Stderr, m.name, m.benchmark)
		outcome, err := m.try()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if err := outcome.keep(filepath.Join(results, m.file())); err != nil {
			return err
		}
	}
	return writePage(modules)
}
