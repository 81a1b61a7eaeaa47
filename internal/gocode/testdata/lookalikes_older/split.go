package lookalikes_older

import "strings"

var separator = ","

func emptySeparator(list string) (n int) {
	for _, part := range strings.Split(list, "") { // refuse: strings.Split
		n += len(part)
	}
	return n
}

func variableSeparator(list string) (n int) {
	for _, part := range strings.Split(list, separator) { // refuse: strings.Split
		n += len(part)
	}
	return n
}

func counted(list string) (n int) {
	for i, part := range strings.Split(list, ",") { // refuse: strings.Split
		n += i * len(part)
	}
	return n
}

func assigned(list string) (part string) {
	for _, part = range strings.Split(list, ",") { // refuse: strings.Split
	}
	return part
}

func words(list string) (n int) {
	for _, word := range strings.Fields(list) { // refuse: strings.Fields
		n += len(word)
	}
	return n
}

func bounded(list string) (n int) {
	for _, part := range strings.SplitN(list, ",", 3) { // refuse: strings.SplitN
		n += len(part)
	}
	return n
}
