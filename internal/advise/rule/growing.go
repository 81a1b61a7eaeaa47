package rule

import "strings"

// growing are the functions by which containers of the C++ libraries grow:
// libstdc++'s first, then libc++'s. Rust's containers grow by realloc.
var growing = []string{
	"::_M_realloc_insert", "::_M_realloc_append", "::_M_default_append", "::_M_range_insert", "::_M_fill_insert",
	"::_M_emplace_aux", "::_M_mutate", "::_M_replace_aux", "::_M_append", "::_M_reallocate_map",
	"::__push_back_slow_path", "::__emplace_back_slow_path", "::__append", "::__grow_by",
}

func grows(function string) bool {
	if !strings.Contains(function, "std::") {
		return false
	}
	for _, name := range growing {
		if strings.Contains(function, name) {
			return true
		}
	}
	return false
}
