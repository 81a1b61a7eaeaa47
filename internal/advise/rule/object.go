package rule

import (
	"slices"
	"strings"

	"mallow/internal/signature"
)

// Parts are blocks that a value has besides its own, wherever it is copied.
const Parts = TreeNode | ListNode | HashNode | StringCopy | StringLiteral | StringOfChars | ContainerCopy

// objectSymbol tells which object of the C++ libraries makes a block for itself,
// each time that it is made: objects that keep nothing when they are set anew.
func objectSymbol(class, method string) Symbol {
	_, name := signature.Split(class)
	switch {
	case class == "std::any" || strings.HasPrefix(class, "std::any::") || strings.HasPrefix(class, "std::__any_imp::"):
		return AnyValue
	case (class == "std" || class == "std::__cxx11") && (method == "to_string" || method == "to_wstring"):
		return NumberText
	case class == "std::basic_filebuf" && (method == "_M_allocate_internal_buffer" || method == "setbuf" || method == name):
		return FileBuffer
	case class == "std::_Temporary_buffer", strings.HasSuffix(method, "get_temporary_buffer") && strings.HasPrefix(class, "std"):
		return SortBuffer
	case strings.HasPrefix(class, "std::") && method == name && slices.Contains(exceptions, name), class == "std" && strings.HasPrefix(method, "__throw_"):
		return Exception
	case class == "std::promise", class == "std::packaged_task", class == "std" && method == "async", strings.HasPrefix(class, "std::__future_base"), class == "std::__assoc_state":
		return SharedState
	case class == "std::thread" || class == "std::jthread" || strings.HasPrefix(class, "std::thread::"):
		return ThreadStart
	}
	return 0
}

// exceptions are the classes whose objects hold a message.
var exceptions = []string{
	"logic_error", "invalid_argument", "domain_error", "length_error", "out_of_range",
	"runtime_error", "range_error", "overflow_error", "underflow_error", "regex_error",
	"system_error", "failure", "__ios_failure", "filesystem_error",
}
