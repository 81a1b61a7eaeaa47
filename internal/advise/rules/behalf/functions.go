package behalf

const keepStream = "a stream and its buffer are made with each fopen: keep it open, give it an array of your own by setvbuf, or use open and read"

// partly tells the functions whose remedies need not save all that they allocate:
// nothing says whether a program needs the positions of groups, or its locale.
var partly = map[string]bool{"regexec": true, "re_search": true, "re_search_2": true, "re_match": true, "re_match_2": true}

// remedies say what can be done about the allocations of functions of libc,
// by the names that a program calls them by.
var remedies = []struct {
	functions []string
	remedy    string
}{
	{[]string{"getaddrinfo", "gethostbyname", "gethostbyname_r", "gethostbyname2_r"}, "look the name up once and keep the addresses"},
	{[]string{"getnameinfo"}, "look the address up once, or ask for numbers by NI_NUMERICHOST"},
	{[]string{"setlocale"}, "set the locale once, at the start; uselocale switches between locales that newlocale made"},
	{[]string{"newlocale", "duplocale"}, "make the locale once and keep it"},
	{
		[]string{"fopen", "fdopen", "freopen", "fclose", "fgets", "fgetc", "getc", "fread", "fwrite", "fputs", "fputc", "putc", "puts",
			"printf", "fprintf", "vfprintf", "fscanf", "rewind"},
		keepStream,
	},
	{[]string{"popen"}, "one process for all requests, or posix_spawn with a pipe"},
	{[]string{"open_memstream", "fmemopen"}, "snprintf into an array of your own, or one stream for all, set back by rewind"},
	{[]string{"asprintf", "vasprintf"}, "snprintf into an array of your own, and asprintf only for what is longer"},
	{[]string{"getline"}, "keep the line and its size from call to call, and free it after the loop"},
	{[]string{"opendir", "fdopendir"}, "keep the directory open and use rewinddir: each one has a buffer of 32 kB"},
	{[]string{"scandir"}, "readdir, which allocates nothing for an entry"},
	{[]string{"glob"}, "readdir and fnmatch; or call it once and keep the result"},
	{[]string{"qsort"}, "sort pointers or indices: elements that take more than 1 kB together are copied into a block of libc's own; std::sort needs none"},
	{[]string{"regcomp", "re_compile_pattern"}, "compile the expression once, outside of the loop"},
	{[]string{"regexec"}, "ask for no more than the first position (REG_NOSUB, or nmatch 1) where those of groups are not needed; match what has a dot or brackets in the locale C where bytes will do, and fixed text without an expression"},
	{[]string{"re_search", "re_search_2", "re_match", "re_match_2"}, "pass no registers where the positions of groups are not needed; match what has a dot or brackets in the locale C where bytes will do, and fixed text without an expression"},
	{[]string{"realpath", "getcwd"}, "pass an array of PATH_MAX bytes instead of NULL"},
	{[]string{"setenv", "putenv"}, "pass it by an argument; what is meant for a child goes into the environment of execve or posix_spawn"},
	{[]string{"tzset", "localtime", "localtime_r", "mktime"}, "set TZ once and leave it, and call localtime_r; gmtime_r where the time zone does not matter"},
	{[]string{"getpwnam", "getpwuid", "getgrnam", "getgrgid", "getpwnam_r", "getpwuid_r", "getgrnam_r", "getgrgid_r", "getgrouplist"},
		"look it up once and keep the result"},
	{[]string{"iconv_open"}, "keep the descriptor, and set it back by iconv with NULL"},
	{[]string{"dlopen", "dlsym"}, "keep the library open and the addresses of its functions"},
	{[]string{"backtrace_symbols"}, "backtrace_symbols_fd, which allocates nothing"},
	{[]string{"pthread_create", "thrd_create"}, "keep threads in a pool and give them work"},
	{[]string{"wordexp"}, "call it once and keep the result"},
	{[]string{"tsearch"}, "a sorted array, or a tree with its links in the elements"},
	{[]string{"gettext", "dcgettext"}, "translate once and keep the text"},
	{[]string{"syslog", "vsyslog"}, "fewer and longer lines, or sendto on the socket"},
	{[]string{"sem_open"}, "keep the semaphore open"},
}

var remedyFor = func() map[string]string {
	byName := make(map[string]string)
	for _, r := range remedies {
		for _, name := range r.functions {
			byName[name] = r.remedy
		}
	}
	return byName
}()
