// Package debuginfo finds functions, inlined calls, files and lines of code
// addresses in DWARF sections.
//
// The standard library's debug/dwarf reads an entry at a time into the heap, and
// knows neither shared files of dwz nor split units. This reader steps over what
// was not asked for without decoding it, follows references into shared files,
// and bounds its work by the size of the sections, however damaged they are.
package debuginfo
