package control

import (
	"syscall"
	"testing"

	"mallow/test/harness"
)

// A program that locks all of its memory (mlockall), and may lock little: what recording reserves is not taken from that.
func TestLockedMemory(t *testing.T) {
	program := onDemand(t, harness.Program(t, "programs/locked"))
	program.Ready(t)
	pid := program.Process.Process.Pid
	const round = "r"
	s := record(t, pid)
	s.awaitOrder(t, startIt)
	program.Order(t, round)
	s.awaitImages(t, 1)
	program.Order(t, round)
	s.Process.Process.Signal(syscall.SIGINT)
	s.awaitOrder(t, stopIt)
	program.Order(t, round)
	s.Wait(t)
	report := harness.ReadReport(t, s.folder)
	if got := site(t, report, "often").Allocations; got != 2*often {
		t.Errorf("%d allocations in often(), want %d: %q", got, 2*often, report.Quality.Warnings)
	}
	if got := site(t, report, "large").Allocations; got != 2*2 {
		t.Errorf("%d allocations in large(), want %d", got, 2*2)
	}
	program.End(t)
}
