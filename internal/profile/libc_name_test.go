package profile

import "testing"

func TestPublicName(t *testing.T) {
	for of, want := range map[string]string{
		"___fprintf_chk": "fprintf", "__fprintf_chk": "fprintf", "__fgets_chk": "fgets", "__GI___fread_chk": "fread", "__realpath_chk": "realpath",
		"__regcomp": "regcomp", "___asprintf": "asprintf", "__asprintf_chk": "asprintf", "__vasprintf_internal": "vasprintf",
		"__fopen_internal": "fopen", "_IO_default_uflow": "getc", "_IO_new_file_overflow": "putc", "getaddrinfo": "getaddrinfo",
		"__libc_start_main": "__libc_start_main", "_dl_init": "_dl_init",
	} {
		if got := publicName(of); got != want {
			t.Errorf("%s is %s, want %s", of, got, want)
		}
	}
}
