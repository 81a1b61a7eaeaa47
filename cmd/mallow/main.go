// Mallow finds, explains, removes and keeps out the cost of memory allocation.
//
//	mallow PROG ARGS             record every allocation of PROG and report
//	mallow report NAME.mallow    report a recording again
//	mallow help                  all verbs
package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"

	"mallow/internal/launch"
)

func main() {
	launch.BecomeProgram()
	collectLate()
	os.Exit(run(os.Args[1:], launch.StandardOutput(), os.Stderr))
}

// run executes mallow with the arguments after its own name and returns the
// exit code: 0, 1 for a usage or internal error, or what an exitError says.
func run(args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetOut(stdout)
	root.SetErr(stderr)
	help := showHelp(root, stdout)
	command, err := withDefaultVerb(root, args)
	if err == nil {
		root.SetArgs(command)
		err = perhapsRate(args, perhapsVerb(root, args, root.Execute()))
	}
	err = cmp.Or(err, help.err)
	return exitCode(err, stderr)
}

// exitError carries the exit code that a command ends with. An exitError
// without an inner error ends silently.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e exitError) Unwrap() error { return e.err }

func exitCode(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	var exit exitError
	if !errors.As(err, &exit) {
		exit = exitError{code: 1, err: err}
	}
	if exit.err != nil {
		fmt.Fprintf(stderr, "mallow: %s\n", plainly(exit.err.Error()))
	}
	return exit.code
}
