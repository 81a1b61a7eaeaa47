package rewrites

type kind string

func (k kind) name() string { return string(k) }

type named interface{ name() string }

// What a word is.
var (
	kindWord  kind = "word"
	kindEmpty      = kind("empty")
	// kindOther is what is none of them.
	kindOther kind = "other"
)

// Variable tells what a word is.
func Variable(word string) named {
	if word == "" {
		return kindEmpty // rewrite: runtime.convTstring
	}
	return kindWord
}

var _ = kindOther.name
