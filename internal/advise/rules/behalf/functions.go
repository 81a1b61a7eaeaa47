package behalf

const keepStream = "a stream and its buffer are made with each fopen: keep it open, give it an array of your own by setvbuf, or use open and read"

// keepExpression is for functions that match what is compiled each time.
const keepExpression = "compile the expression once, outside of the loop: what is found out of it, which is most of this, is kept with it"

var (
	compilers = map[string]bool{"regcomp": true, "re_compile_pattern": true}
	matchers  = map[string]bool{"regexec": true, "re_search": true, "re_search_2": true, "re_match": true, "re_match_2": true}
)

// remedy is what can be done about the allocations of functions of libc, by the
// names that a program calls them by.
type remedy struct {
	functions []string
	text      string
	// partly: it need not save all of them. Nothing tells whether the program
	// asks for the same name again, or needs all that it gets, as the positions
	// of groups.
	partly bool
}

var remedies = []remedy{
	{[]string{"getaddrinfo", "gethostbyname", "gethostbyname_r", "gethostbyname2_r"}, "look the name up once and keep the addresses", true},
	{[]string{"getnameinfo"}, "look the address up once, or ask for numbers by NI_NUMERICHOST", true},
	{[]string{"setlocale"}, "set the locale once, at the start; uselocale switches between locales that newlocale made", false},
	{[]string{"newlocale", "duplocale"}, "make the locale once and keep it", false},
	{
		[]string{"fopen", "fdopen", "freopen", "fclose", "fgets", "fgetc", "getc", "fread", "fwrite", "fputs", "fputc", "putc", "puts",
			"printf", "fprintf", "vfprintf", "fscanf", "rewind"},
		keepStream, false,
	},
	{[]string{"popen"}, "one process for all requests, or posix_spawn with a pipe", false},
	{[]string{"open_memstream", "fmemopen"}, "snprintf into an array of your own, or one stream for all, set back by rewind", false},
	{[]string{"asprintf", "vasprintf"}, "snprintf into an array of your own, and asprintf only for what is longer", false},
	{[]string{"getline"}, "keep the line and its size from call to call, and free it after the loop", false},
	{[]string{"opendir", "fdopendir"}, "each open directory has a buffer of 32 kB: keep one that is read again, and use rewinddir; getdents64 reads others into a buffer of your own", true},
	{[]string{"scandir"}, "readdir, which allocates nothing for an entry", false},
	{[]string{"glob"}, "readdir and fnmatch; or call it once and keep the result", false},
	{[]string{"qsort"}, "sort pointers or indices: elements that take more than 1 kB together are copied into a block of libc's own; std::sort needs none", false},
	{[]string{"regcomp", "re_compile_pattern"}, "compile the expression once, outside of the loop", true},
	{[]string{"regexec"}, "ask for no more than the first position (REG_NOSUB, or nmatch 1) where those of groups are not needed; match what has a dot or brackets in the locale C where bytes will do, and fixed text without an expression", true},
	{[]string{"re_search", "re_search_2", "re_match", "re_match_2"}, "pass no registers where the positions of groups are not needed; match what has a dot or brackets in the locale C where bytes will do, and fixed text without an expression", true},
	{[]string{"realpath", "getcwd"}, "pass an array of PATH_MAX bytes instead of NULL", false},
	{[]string{"setenv", "putenv"}, "pass it by an argument; what is meant for a child goes into the environment of execve or posix_spawn", false},
	{[]string{"tzset", "localtime", "localtime_r", "mktime"}, "set TZ once and leave it, and call localtime_r; gmtime_r where the time zone does not matter", false},
	{[]string{"getpwnam", "getpwuid", "getgrnam", "getgrgid", "getpwnam_r", "getpwuid_r", "getgrnam_r", "getgrgid_r", "getgrouplist"},
		"look it up once and keep the result", true},
	{[]string{"iconv_open"}, "keep the descriptor, and set it back by iconv with NULL", false},
	{[]string{"dlopen", "dlsym"}, "keep the library open and the addresses of its functions", true},
	{[]string{"backtrace_symbols"}, "backtrace_symbols_fd, which allocates nothing", false},
	{[]string{"pthread_create", "thrd_create"}, "keep threads in a pool and give them work", false},
	{[]string{"wordexp"}, "call it once and keep the result", true},
	{[]string{"tsearch"}, "a sorted array, or a tree with its links in the elements", false},
	{[]string{"gettext", "dcgettext"}, "translate once and keep the text", false},
	{[]string{"syslog", "vsyslog"}, "fewer and longer lines, or sendto on the socket", false},
	{[]string{"sem_open"}, "keep the semaphore open", true},
}

var remedyFor = func() map[string]remedy {
	byName := make(map[string]remedy)
	for _, r := range remedies {
		for _, name := range r.functions {
			byName[name] = r
		}
	}
	return byName
}()
