package harness

import (
	"io"
	"os/exec"
	"testing"
)

// Conversation is a program that answers each order on its standard input by one byte, as programs/rounds.c does.
type Conversation struct {
	*Background
	orders  io.WriteCloser
	answers io.Reader
}

// Converse starts the command, as Start does.
func Converse(t testing.TB, command Command) *Conversation {
	t.Helper()
	c := &Conversation{}
	c.Background = start(t, command, func(process *exec.Cmd) {
		var err error
		if c.orders, err = process.StdinPipe(); err != nil {
			t.Fatal(err)
		}
		if c.answers, err = process.StdoutPipe(); err != nil {
			t.Fatal(err)
		}
	})
	return c
}

// Order gives orders and returns when all of them are done.
func (c *Conversation) Order(t testing.TB, orders string) {
	t.Helper()
	if _, err := io.WriteString(c.orders, orders); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(c.answers, make([]byte, len(orders))); err != nil {
		t.Fatalf("orders %q: %v\n%s", orders, err, c.Errors())
	}
}

// Ready returns when the program has given a sign before any order.
func (c *Conversation) Ready(t testing.TB) {
	t.Helper()
	if _, err := io.ReadFull(c.answers, make([]byte, 1)); err != nil {
		t.Fatalf("the program did not start: %v\n%s", err, c.Errors())
	}
}

// End lets the program see the end of its orders, and waits until it has ended.
func (c *Conversation) End(t testing.TB) {
	t.Helper()
	c.orders.Close()
	c.Wait(t)
}
