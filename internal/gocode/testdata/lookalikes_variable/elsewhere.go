//go:build never

package lookalikes_variable

func init() { elsewhere = "never" }
