package main

// counts sums up tests; one with subtests counts by those.
type counts struct {
	passed, failed, skipped int
	failures                []failure
	skips                   []string
}

type failure struct{ name, output string }

func (c *counts) add(other counts) {
	c.passed += other.passed
	c.failed += other.failed
	c.skipped += other.skipped
	c.failures = append(c.failures, other.failures...)
	c.skips = append(c.skips, other.skips...)
}

func (c *counts) fail(name, output string) {
	c.failed++
	c.failures = append(c.failures, failure{name, lastLines(output, 60)})
}

// lastLines cuts text to its last n lines.
func lastLines(text string, n int) string {
	for i := len(text) - 1; i >= 0; i-- {
		if text[i] != '\n' {
			continue
		}
		if n--; n < 0 {
			return text[i+1:]
		}
	}
	return text
}
