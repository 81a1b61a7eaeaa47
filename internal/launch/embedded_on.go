//go:build embed

package launch

import _ "embed"

// embedded is libmallow.so, put beside this file by the Makefile.
//
//go:embed embedded/libmallow.so
var embedded []byte
