// Package symbolize names code addresses of ELF files: function, source file
// and line, with the functions that were inlined there.
//
// It reads DWARF 2 to 5 from the file itself or from its separate debug file
// (found by build id or .gnu_debuglink), compressed or not, with what dwz moved
// to a shared file. Without DWARF it goes on with the symbol tables, and without
// these with the unwind entries, so that two addresses of one function always
// get one name and no address gets the name of another function.
//
// Only what the asked addresses need is read: files are mapped, and of the
// compilation units only those that hold one of the addresses are parsed.
//
// The caller must
//   - ask for addresses of the file (run-time address minus bias), and for a
//     return address the one before it;
//   - ask for all addresses of a module in one call where it can;
//   - show Warnings to the user once.
//
// What was found can be kept in a cache (Options.Cache), or go with a recording
// (WriteSymbols, UseSymbols). Nothing is fetched from the network but by
// Options.Fetch, which package debuginfod has.
//
// It does not read source files or variables, and knows 64-bit little-endian
// files only. Nothing that a file contains makes it fail: damaged files give
// fewer names and a warning.
//
//	s := symbolize.New(symbolize.Options{})
//	defer s.Close()
//	frames := s.Frames(symbolize.Module{Path: "/usr/bin/git"}, []uint64{0x2f4a1})
//	fmt.Println(frames[0][0].Function)
package symbolize
