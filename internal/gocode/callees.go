package gocode

import (
	"go/ast"
	"strings"
)

// alternative is what a function of the standard library allocates, and what
// does without.
type alternative struct {
	why, remedy string
	rule        string // "" for "library"
}

// readByType does without the functions of package fmt that scan.
const readByType = "strconv.Atoi, strconv.ParseFloat and the like for each value; strings.Cut, strings.FieldsSeq or a bufio.Scanner to find the values"

// alternatives are by the function's symbol. Only what holds for every call is
// said.
var alternatives = map[string]alternative{
	"compress/gzip.NewWriter":             {"it makes a compressor with a window of its own, hundreds of kilobytes", "keep them in a sync.Pool and Reset them with the next destination", "pool"},
	"compress/gzip.NewReader":             {"it makes a decompressor with a window of its own", "keep them in a sync.Pool and Reset them with the next source", "pool"},
	"compress/flate.NewWriter":            {"it makes a compressor with a window of its own, hundreds of kilobytes", "keep them in a sync.Pool and Reset them with the next destination", "pool"},
	"compress/zlib.NewWriter":             {"it makes a compressor with a window of its own, hundreds of kilobytes", "keep them in a sync.Pool and Reset them with the next destination", "pool"},
	"regexp.Compile":                      {"it parses a pattern and makes a machine of it", "keep what was compiled, by the pattern, in a map that has a bound", "cache"},
	"regexp.MustCompile":                  {"it parses a pattern and makes a machine of it", "keep what was compiled, by the pattern, in a map that has a bound", "cache"},
	"time.LoadLocation":                   {"it reads and parses the rules of a time zone", "keep what was loaded, by its name", "cache"},
	"reflect.Type.FieldByName":            {"it looks a field up and copies what is known of it", "keep its index, by type, in a sync.Map", "cache"},
	"io.WriteString":                      {"its writer takes bytes alone, so that the string is copied", "give the writer a method WriteString, or write bytes", "conversion"},
	"strconv.Itoa":                        {"it makes a string of the digits", "strconv.AppendInt(buf[:0], int64(n), 10) writes them into a buffer of yours; var buf [20]byte is enough and stays on the stack", "format"},
	"strconv.FormatInt":                   {"it makes a string of the digits", "strconv.AppendInt writes them into a buffer of yours", "format"},
	"strconv.FormatUint":                  {"it makes a string of the digits", "strconv.AppendUint writes them into a buffer of yours", "format"},
	"strconv.FormatFloat":                 {"it makes a string of the digits", "strconv.AppendFloat writes them into a buffer of yours", "format"},
	"strconv.Quote":                       {"it makes a new string", "strconv.AppendQuote writes into a buffer of yours", "format"},
	"fmt.Sprintf":                         {"it formats into a new string, and takes its arguments as interface values", "strconv.Append... or fmt.Appendf into a buffer of yours; fmt.Fprintf where the text is written anyway; + for two strings", "format"},
	"fmt.Sprint":                          {"it formats into a new string, and takes its arguments as interface values", "strconv for one number, the value itself for a string, fmt.Append into a buffer of yours", "format"},
	"fmt.Sprintln":                        {"it formats into a new string, and takes its arguments as interface values", "fmt.Fprintln where the text is written anyway, fmt.Appendln into a buffer of yours", "format"},
	"fmt.Fprintf":                         {"it takes its arguments as interface values", "strconv.Append... into a buffer of yours and Write it", "format"},
	"fmt.Sscanf":                          {"it reads rune by rune, into what is handed to it as interface values", readByType, ""},
	"fmt.Sscan":                           {"it reads rune by rune, into what is handed to it as interface values", readByType, ""},
	"fmt.Sscanln":                         {"it reads rune by rune, into what is handed to it as interface values", readByType, ""},
	"fmt.Fscanf":                          {"it reads rune by rune, into what is handed to it as interface values", readByType, ""},
	"fmt.Fscan":                           {"it reads rune by rune, into what is handed to it as interface values", readByType, ""},
	"fmt.Fscanln":                         {"it reads rune by rune, into what is handed to it as interface values", readByType, ""},
	"fmt.Errorf":                          {"it formats an error, though perhaps nobody reads it", "an error type that has the values as fields and formats them in Error()", ""},
	"errors.New":                          {"it makes a new error", "a variable of the package", ""},
	"strings.Split":                       {"it makes a slice of all parts", "strings.Cut for two parts, strings.SplitSeq to go through them", "cut"},
	"strings.SplitN":                      {"it makes a slice of the parts", "strings.Cut, as often as there are parts to take", "cut"},
	"strings.Fields":                      {"it makes a slice of all words", "strings.FieldsSeq goes through them without one", "cut"},
	"bytes.Split":                         {"it makes a slice of all parts", "bytes.Cut for two parts, bytes.SplitSeq to go through them", "cut"},
	"bytes.Fields":                        {"it makes a slice of all words", "bytes.FieldsSeq goes through them without one", "cut"},
	"strings.Join":                        {"it makes a new string of all parts", "write the parts one by one to where they go", ""},
	"strings.Repeat":                      {"it makes a new string", "a constant, or a loop that writes the part as often as needed", ""},
	"strings.ToLower":                     {"it makes a new string where a letter changes", "strings.EqualFold to compare; otherwise convert once and keep it", ""},
	"strings.ToUpper":                     {"it makes a new string where a letter changes", "strings.EqualFold to compare; otherwise convert once and keep it", ""},
	"bytes.ToLower":                       {"it makes a new slice", "bytes.EqualFold to compare; otherwise convert once and keep it", ""},
	"bytes.ToUpper":                       {"it makes a new slice", "bytes.EqualFold to compare; otherwise convert once and keep it", ""},
	"strings.Replace":                     {"it makes a new string where something is replaced", "a strings.Replacer that is kept, with WriteString to where it goes", ""},
	"strings.ReplaceAll":                  {"it makes a new string where something is replaced", "a strings.Replacer that is kept, with WriteString to where it goes", ""},
	"strings.Map":                         {"it makes a new string where a rune changes", "append to a buffer that is kept", ""},
	"strings.Clone":                       {"it copies the string, so that what it is a part of can be freed", "", ""},
	"strings.NewReader":                   {"a Reader is made", "keep one and Reset it", "reuse"},
	"bytes.NewReader":                     {"a Reader is made", "keep one and Reset it", "reuse"},
	"bytes.NewBuffer":                     {"a Buffer is made", "keep one and Reset it", "reuse"},
	"bytes.(*Buffer).String":              {"it copies the bytes into a new string", "a strings.Builder with Grow, whose String copies nothing; or go on with Bytes", "conversion"},
	"bytes.(*Buffer).ReadString":          {"it copies what it reads into a new string", "bytes.Cut of its Bytes, and Next, which copy nothing", ""},
	"bytes.(*Buffer).ReadBytes":           {"it copies what it reads", "bytes.Cut of its Bytes, and Next, which copy nothing", ""},
	"bytes.NewBufferString":               {"a Buffer is made, and the string copied", "strings.NewReader to read from it; keep it and Reset it", ""},
	"bufio.NewReader":                     {"it makes a buffer of 4096 bytes", "keep it and Reset it with the next source", "pool"},
	"bufio.NewReaderSize":                 {"it makes a buffer", "keep it and Reset it with the next source", "pool"},
	"bufio.NewWriter":                     {"it makes a buffer of 4096 bytes", "keep it and Reset it with the next destination", "pool"},
	"bufio.NewWriterSize":                 {"it makes a buffer", "keep it and Reset it with the next destination", "pool"},
	"bufio.(*Scanner).Text":               {"it copies the token into a new string", "Bytes gives the token itself, which the next Scan overwrites", ""},
	"bufio.(*Reader).ReadString":          {"it copies the line into a new string", "ReadSlice gives the line itself, which the next read overwrites", ""},
	"io.ReadAll":                          {"it lets a buffer grow until all is read", "read into a buffer of the known size (io.ReadFull), or go on with the reader: io.Copy, json.Decoder", "stream"},
	"os.ReadFile":                         {"it reads the whole file into a new slice", "read it in parts into a buffer that is kept", "stream"},
	"encoding/json.Marshal":               {"it makes a new slice, and looks at values by reflection", "a json.Encoder that writes to where the text goes; for hot types code that appends", "stream"},
	"encoding/json.Unmarshal":             {"it looks at values by reflection and makes what they refer to", "decode into a value that is kept; for hot types generated code", ""},
	"time.Time.Format":                    {"it makes a new string", "AppendFormat writes into a buffer of yours", "format"},
	"time.After":                          {"it makes a timer and a channel in each call", "one time.NewTimer and Reset", ""},
	"time.NewTimer":                       {"it makes a timer and a channel", "keep it and Reset it", "reuse"},
	"sort.Slice":                          {"it takes the slice as an interface value and swaps by reflection", "slices.SortFunc, which knows the type", ""},
	"sort.SliceStable":                    {"it takes the slice as an interface value and swaps by reflection", "slices.SortStableFunc, which knows the type", ""},
	"sort.Sort":                           {"it takes the collection as an interface value", "slices.SortFunc, which knows the type", ""},
	"context.WithValue":                   {"it makes a context for each value", "one value that has all fields; or pass them as arguments", ""},
	"context.WithCancel":                  {"it makes a context and a function", "pass the context on where nothing is cancelled on its own", ""},
	"context.WithTimeout":                 {"it makes a context, a function and a timer", "one deadline for the whole of the work", ""},
	"regexp.(*Regexp).FindStringSubmatch": {"it makes a slice of the parts that match", "FindStringSubmatchIndex with a fixed form: strings.Cut and the like where they do", ""},
	"regexp.(*Regexp).ReplaceAllString":   {"it makes a new string", "strings.Replacer where the pattern is a fixed text", ""},
	"net/url.Parse":                       {"it makes a URL", "parse it once and keep it", "cache"},
	"crypto/sha256.New":                   {"a hash is made", "keep it and Reset it; sha256.Sum256 for what is there as a whole", "reuse"},
	"crypto/md5.New":                      {"a hash is made", "keep it and Reset it; md5.Sum for what is there as a whole", "reuse"},
	"hash/fnv.New64a":                     {"a hash is made", "keep it and Reset it; hash/maphash.String for what is not stored", "reuse"},
	"encoding/hex.EncodeToString":         {"it makes a new string", "hex.AppendEncode writes into a buffer of yours", "format"},
	"encoding/base64.(*Encoding).EncodeToString": {"it makes a new string", "AppendEncode writes into a buffer of yours", "format"},
	"encoding/base64.(*Encoding).DecodeString":   {"it makes a new slice", "AppendDecode writes into a buffer of yours", ""},
	"encoding/csv.(*Reader).Read":                {"it makes a slice for each record, and a text of which its fields are parts", "ReuseRecord = true, where the slice is not needed beyond the next Read", "reuse"},
	"time.Parse":                                 {"a text that does not fit the layout makes an error", "the layout that fits at once: choose it by the length and the signs of the text", ""},
	"time.ParseInLocation":                       {"a text that does not fit the layout makes an error", "the layout that fits at once: choose it by the length and the signs of the text", ""},
	"encoding/json.(*Decoder).Decode":            {"it looks at values by reflection and makes what they refer to", "decode into a value that is kept, or go through the Tokens; for hot types generated code", ""},
	"strings.(*Builder).Grow":                    {"it makes the memory of the string that is built", "return a part that is the whole as it is; otherwise only an append to the caller's buffer makes none", ""},
	"io.NopCloser":                               {"it makes a reader with a Close", "a type of yours that has the reader in it and Close as a method; http.NoBody where there is nothing to read", ""},
	"net/http.Header.Set":                        {"it makes a slice for the value", "one slice for all values, of which each header gets a part: h[key] = all[i:i+1:i+1], with a key in canonical form", ""},
	"net/http.Header.Add":                        {"it makes or extends the slice of values", "one slice for all values, of which each header gets a part: h[key] = all[i:i+1:i+1], with a key in canonical form", ""},
	"net.(*TCPAddr).String":                      {"it formats the address into a new string", "keep the text with the connection, or AddrPort().AppendTo into a buffer of yours", ""},
	"runtime.Caller":                             {"it makes what it needs to look at one frame", "runtime.Callers into an array of yours, once, and runtime.CallersFrames", ""},
	"os.Open":                                    {"a File is made; to open it takes far longer", "", ""},
	"slices.Collect":                             {"it lets a slice grow", "slices.AppendSeq into one with room", ""},
	"slices.Clone":                               {"it copies the slice", "append(kept[:0], s...) copies it into one that is kept", "reuse"},
	"maps.Clone":                                 {"it copies the map", "maps.Copy into one that is kept", "reuse"},
	"bytes.Clone":                                {"it copies the slice", "append(kept[:0], b...) copies it into one that is kept", "reuse"},
}

// findCallee returns the finder of the functions whose remedy is a rule's.
func findCallee(rule string) func(s *subject) (why, remedy string, found bool) {
	return func(s *subject) (why, remedy string, found bool) {
		callee := withoutArguments(s.line.Callee)
		a, known := alternatives[callee]
		if !known || a.rule != rule {
			return "", "", false
		}
		why = shortName(callee) + ": " + a.why
		switch {
		case rule == "format" && s.isReturned():
			return why + ": the one that is returned", "", true
		case callee == "time.Parse" || callee == "time.ParseInLocation":
			return s.parsedTime(callee, a)
		}
		return why, a.remedy, true
	}
}

// isReturned tells whether what the line makes is what its function returns.
func (s *subject) isReturned() bool {
	for _, at := range s.calls() {
		if _, returned := at.path[1].(*ast.ReturnStmt); returned {
			return true
		}
	}
	return false
}

// parsedTime tells a text that does not fit its layout from one with an offset
// of its own.
func (s *subject) parsedTime(callee string, a alternative) (why, remedy string, found bool) {
	fails := len(s.line.Stacks) == 0
	for _, stack := range s.line.Stacks {
		for _, f := range stack.Frames {
			if f.Function == "time.FixedZone" {
				return shortName(callee) + ": it makes a location for the offset that the text has", "", true
			}
			fails = fails || f.Function == "time.newParseError"
		}
	}
	if !fails {
		return "", "", false
	}
	return shortName(callee) + ": " + a.why, a.remedy, true
}

// findScanned finds what goes to the heap because a function of package fmt
// reads into it.
func findScanned(s *subject) (why, remedy string, found bool) {
	for i := range s.escapes {
		if reason := s.escapes[i].reason(); s.ofCompiler() && strings.Contains(reason, "it is an argument of fmt.Fscan") {
			return reason, readByType, true
		}
	}
	return "", "", false
}

// findLogged finds what is put together for a call that logs, as by the first of
// log.WithFields(f).Debug("text").
func findLogged(s *subject) (why, remedy string, found bool) {
	for _, at := range s.calls() {
		if len(at.path) < 3 {
			continue
		}
		selector, selected := at.path[1].(*ast.SelectorExpr)
		call, called := at.path[2].(*ast.CallExpr)
		if selected && called && call.Fun == ast.Expr(selector) && at.logs(call) {
			return shortName(s.line.Callee) + " puts together what " + shortName(at.callee(call)) + " is to log, whether anything is written or not", askFirst, true
		}
	}
	return "", "", false
}

func findLibrary(s *subject) (why, remedy string, found bool) {
	callee := withoutArguments(s.line.Callee)
	if _, known := alternatives[callee]; !known && strings.HasPrefix(callee, "reflect.") {
		return shortName(callee) + " works by reflection, which needs a place on the heap for values", "code that knows the type: type parameters, a type switch, generated code", true
	}
	return findCallee("")(s)
}
