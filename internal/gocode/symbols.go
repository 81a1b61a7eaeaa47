package gocode

import "strings"

// keepingSymbols takes back what -ldflags say of leaving symbols out: without
// them nothing that a program allocates has a name.
func keepingSymbols(ldflags string) string { return "-ldflags=" + ldflags + " -s=0 -w=0" }

// withSymbols returns flags of the go command that are as they are, and as
// GOFLAGS is, but for symbols.
func withSymbols(flags []string, environment string) []string {
	var with []string
	for _, flag := range quotedFields(environment) {
		if value, is := ldflags(flag); is {
			with = append(with, keepingSymbols(value))
		}
	}
	for i := 0; i < len(flags); i++ {
		value, is := ldflags(flags[i])
		if !is && strings.TrimLeft(flags[i], "-") == "ldflags" && strings.HasPrefix(flags[i], "-") && i+1 < len(flags) {
			i++
			value, is = flags[i], true
		}
		flag := flags[i]
		if is {
			flag = keepingSymbols(value)
		}
		with = append(with, flag)
	}
	return with
}

func ldflags(flag string) (value string, is bool) {
	for _, name := range []string{"-ldflags=", "--ldflags="} {
		if value, is = strings.CutPrefix(flag, name); is {
			return value, true
		}
	}
	return "", false
}

// quotedFields are those of GOFLAGS: one with blanks stands in quotation marks.
func quotedFields(text string) (fields []string) {
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		end := strings.IndexAny(text, " \t\n")
		if mark := text[0]; mark == '\'' || mark == '"' {
			text = text[1:]
			end = strings.IndexByte(text, mark)
		}
		if end < 0 {
			return append(fields, text)
		}
		fields, text = append(fields, text[:end]), text[end+1:]
	}
	return fields
}
