package announced

import "fmt"

// Labels grows in the line that makes each text.
func Labels(n int) []string {
	var out []string
	for i := 0; i < n; i++ {
		out = append(out, fmt.Sprintf("label-%d", i)) // line: fmt.Sprintf
	}
	return out
}
