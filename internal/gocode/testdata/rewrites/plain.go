package rewrites

import "fmt"

type color string

// Plain names a color.
func Plain(name string, n uint16, c string) string {
	return fmt.Sprintf("%s/%d%%: %v", name, n, color(c)) // rewrite: fmt.Sprintf
}
