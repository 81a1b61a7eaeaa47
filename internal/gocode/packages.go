package gocode

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
)

// Origin tells whose a package is.
type Origin uint8

// The later ones are nearer to what is measured.
const (
	OriginUnknown    Origin = iota
	OriginStandard          // Go's own
	OriginDependency        // another module's
	OriginOwn               // of the module, or workspace, that is measured
)

// origins are the packages of a program by import path, and by the folder of
// their sources.
type origins map[string]Origin

// listOrigins asks the go command which packages patterns and all that they
// import consist of, and whether one that is not Go's own calls C.
func listOrigins(goFlags, patterns []string) (found origins, callsC bool, err error) {
	args := append([]string{"list", "-deps", "-test", "-e", "-json=ImportPath,Dir,Standard,Module,ForTest,CgoFiles"}, goFlags...)
	out, err := goOutput(append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, false, err
	}
	found = make(origins)
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath, Dir, ForTest string
			Standard                 bool
			Module                   *struct{ Main bool }
			CgoFiles                 []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return found, callsC, nil
		} else if err != nil {
			return nil, false, fmt.Errorf("go list says what cannot be read: %w", err)
		}
		callsC = callsC || !p.Standard && len(p.CgoFiles) > 0
		path, _, _ := strings.Cut(p.ImportPath, " ") // a variant for a test stands in brackets
		switch {
		case p.Standard:
			found[path] = OriginStandard
		case p.Module == nil || p.Module.Main:
			found[path] = OriginOwn
		default:
			found[path] = OriginDependency
		}
		found[p.Dir] = found[path]
	}
}

// written tells whose the source of a function is. A function literal of another
// package that is inlined is called by the function that it became a part of.
func (o origins) written(function, file string) Origin {
	origin := o.of(function)
	if origin == OriginOwn || origin == OriginDependency {
		if of, known := o[sourceFolder(file)]; known && of < origin {
			return of
		}
	}
	return origin
}

// sourceFolder is where a file lies: its folder, or the import path of its
// package where the program was built with -trimpath, which is written with the
// version of the module.
func sourceFolder(file string) string {
	folder := path.Dir(file)
	module, rest, versioned := strings.Cut(folder, "@")
	if !versioned || path.IsAbs(folder) {
		return folder
	}
	_, below, _ := strings.Cut(rest, "/")
	return path.Join(module, below)
}

// of tells whose a function is. Packages of main programs are called main.
func (o origins) of(function string) Origin {
	pkg := packageOf(function)
	if isGlue(function[strings.LastIndexByte(function, '.')+1:]) {
		return OriginStandard
	}
	if pkg == "main" {
		return OriginOwn
	}
	if origin, known := o[pkg]; known {
		return origin
	}
	if strings.HasPrefix(pkg, "runtime") || strings.HasPrefix(pkg, "internal/") || pkg == "" || pkg == "type" || pkg == "go" {
		return OriginStandard
	}
	return OriginUnknown
}

// isGlue tells whether a function is what cgo writes for a call of C.
func isGlue(name string) bool {
	return strings.HasPrefix(name, "_Cfunc_") || strings.HasPrefix(name, "_C2func_") || strings.HasPrefix(name, "_cgo_")
}

// packageOf returns the import path of a function's package, from a name such
// as "example.org/a/b%2ev2.(*T[...]).Method"; "" where it has none.
func packageOf(function string) string {
	pkg, _ := cutPackage(function)
	return pkg
}

// cutPackage takes the import path of a function's package, in whose last part
// symbols have "%2e" for a dot, off its name.
func cutPackage(function string) (pkg, name string) {
	path := withoutArguments(function)
	slash := strings.LastIndexByte(path, '/') + 1
	last, _, dotted := strings.Cut(path[slash:], ".")
	if !dotted {
		return "", function
	}
	name = function[slash+len(last)+1:]
	if plain, err := url.PathUnescape(last); err == nil {
		last = plain
	}
	return function[:slash] + last, name
}

// Package is a package that a pattern matches.
type Package struct {
	ImportPath   string
	Name         string
	Dir          string
	TestGoFiles  []string
	XTestGoFiles []string
	Broken       error `json:"-"` // why it is none, or cannot be built; nil where nothing is known against it
}

func (p *Package) hasTests() bool { return len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 }

// Packages lists those that patterns match, all of which must be fit to be built
// as far as the go command knows at once.
func (b *Builder) Packages(patterns []string) ([]Package, error) {
	all, err := b.AllPackages(patterns)
	for i := range all {
		if err == nil {
			err = all[i].Broken
		}
	}
	return all, err
}

// AllPackages lists those that patterns match, with those that are broken.
func (b *Builder) AllPackages(patterns []string) ([]Package, error) {
	args := append([]string{"list", "-e", "-json=ImportPath,Name,Dir,TestGoFiles,XTestGoFiles,Error"}, b.GoFlags...)
	out, err := goOutput(append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, err
	}
	var all []Package
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Package
			Error *struct{ Err string }
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, fmt.Errorf("go list says what cannot be read: %w", err)
		}
		if p.Error != nil {
			p.Broken = &CommandError{What: p.ImportPath, Output: strings.TrimSpace(p.Error.Err)}
		}
		all = append(all, p.Package)
	}
}
