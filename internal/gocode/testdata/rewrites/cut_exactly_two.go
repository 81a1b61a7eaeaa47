package rewrites

import "strings"

// CutExactlyTwo reads host and port.
func CutExactlyTwo(address string) (host, port string) {
	if parts := strings.Split(address, ":"); len(parts) == 2 && parts[1] != "" { // rewrite: strings.Split
		host, port = parts[0], parts[1]
	}
	return host, port
}
