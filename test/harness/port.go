package harness

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// FreePort returns a port of 127.0.0.1 for a server that has to be told one. It is none of those that the kernel gives to
// whoever asks for any: another test could be given it before the server listens.
func FreePort(t testing.TB) int {
	t.Helper()
	const first, count = 20000, 10000
	for range 100 {
		port := first + rand.IntN(count)
		if listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			listener.Close()
			return port
		}
	}
	t.Fatal("no port is free")
	return 0
}
