// Command go tries mallow go out on modules that were not written for it: it
// fetches the modules of modules.txt, counts and fixes a benchmark of each, and
// writes docs/go-modules.md. It is run at the root of the repository, with
// build/mallow built:
//
//	go run ./bench/go            all of them
//	go run ./bench/go -only NAME the modules of that name; the others keep their figures
//	go run ./bench/go -cost      what counting costs, bench/results/go-cost.md
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	costs := flag.Bool("cost", false, "measure what counting costs instead")
	flag.Parse()
	err := error(nil)
	if *costs {
		err = surveyCosts(*only)
	} else {
		err = survey(*only, *write)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench/go:", err)
		os.Exit(1)
	}
}

func surveyCosts(only string) error {
	modules, err := readModules(list)
	if err != nil {
		return err
	}
	return measureCosts(slices.DeleteFunc(modules, func(m module) bool { return only != "" && only != m.name }))
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
