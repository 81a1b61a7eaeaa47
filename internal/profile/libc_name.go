package profile

import "strings"

// inner are the functions that a call of a public one goes on in, so that
// only they are on the stack.
var inner = map[string]string{
	"__fopen_internal": "fopen", "fopen64": "fopen", "_IO_fopen64": "fopen", "_IO_new_fclose": "fclose", "_IO_fgets": "fgets",
	"__isoc99_fscanf": "fscanf", "_IO_puts": "puts", "_IO_default_uflow": "getc", "_IO_new_file_overflow": "putc",
	"getdelim": "getline", "__getdelim": "getline", "_IO_getdelim": "getline",
	"opendir_tail": "opendir", "__opendirat": "opendir", "scandir64": "scandir", "glob64": "glob",
	"qsort_r": "qsort", "__qsort_r": "qsort", "__vasprintf_internal": "vasprintf",
	"__add_to_environ": "setenv", "__tz_convert": "localtime", "__dcigettext": "gettext", "__vsyslog_internal": "syslog",
}

// publicName is the name by which a program calls a function. Its own name may
// stand between underscores and the _chk of those that check arguments; what
// no program calls keeps its own.
func publicName(function string) string {
	function = strings.TrimPrefix(function, "__GI_")
	if name, ok := inner[function]; ok {
		return name
	}
	if strings.HasPrefix(function, "__libc_") || strings.HasPrefix(function, "_dl_") {
		return function
	}
	return strings.TrimSuffix(strings.TrimLeft(function, "_"), "_chk")
}
