package announced

import (
	"fmt"
	"strconv"
)

type number struct{ n int }

func boxed(row map[string]any, n int, w string, words []string) {
	row["number"] = strconv.Itoa(n)                // boxed: runtime.convTstring
	row["name"] = fmt.Sprint("user", n)            // boxed: runtime.convTstring
	row["user"] = fmt.Sprint("user", n)            // boxed: runtime.convT64 fmt.Sprint
	row["line"] = len(fmt.Sprintln(w))             // boxed: runtime.convT64
	row["text"] = fmt.Sprint(w, words)             // boxed: runtime.convTslice fmt.Sprint
	row["both"] = fmt.Sprint(fmt.Sprint(n), words) // boxed: runtime.convT64 fmt.Sprint
	row["kept"] = fmt.Sprint(number{n}, &n)        // boxed: runtime.convT64 fmt.Sprint
	fmt.Println(any(w), strconv.Quote(w))          // boxed: runtime.convT64
}
