package launch

import (
	"encoding/binary"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A thread-per-request server under a recording would wake mallow twice for each request: nothing of it is of any use.
func TestThreadsWakeNobody(t *testing.T) {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_CONNECTOR)
	if err != nil {
		t.Skip(err)
	}
	defer unix.Close(socket)
	if err := listen(socket); err != nil {
		t.Skip(err)
	}
	ended := make(chan bool)
	for range 10 {
		go func() {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			ended <- true
		}()
		<-ended
	}
	command := exec.Command("true")
	if err := command.Run(); err != nil {
		t.Fatal(err)
	}
	heard := map[uint32]bool{}
	buffer := make([]byte, 4096)
	for end := time.Now().Add(10 * time.Second); !heard[eventExit]; {
		n, _, err := unix.Recvfrom(socket, buffer, unix.MSG_DONTWAIT)
		if err != nil {
			if time.Now().After(end) {
				t.Skip("the kernel says nothing here")
			}
			time.Sleep(time.Millisecond)
			continue
		}
		what, task, process := eventIn(buffer[:n])
		if task != process {
			t.Errorf("heard of thread %d of process %d, event %#x", task, process, what)
		}
		if process == command.Process.Pid {
			heard[what] = true
		}
	}
	if !heard[eventFork] || !heard[eventExec] {
		t.Errorf("heard %v of a process", heard)
	}
}

// eventIn returns whom an event is about: of a fork the child.
func eventIn(b []byte) (what uint32, task, process int) {
	word := func(i int) int { return int(binary.LittleEndian.Uint32(b[detailsAt+4*i:])) }
	what = binary.LittleEndian.Uint32(b[eventAt:])
	if what == eventFork {
		return what, word(2), word(3)
	}
	return what, word(0), word(1)
}

// A thread that executes a program ends its process's first thread before, in the same words as a process ends; the id
// stays. Whoever has an ended process's id next is another.
func TestExecutedByThread(t *testing.T) {
	const first, status = 2, 3 << 8
	pid := os.Getpid()
	e := newFamilyEvents(first)
	e.take(event(eventFork, first, first, pid, pid))
	e.take(event(eventExit, pid, pid, 0))
	e.take(event(eventExec, pid, pid))
	e.take(event(eventExit, pid, pid, status))
	e.take(event(eventFork, 1, 1, pid, pid))
	e.take(event(eventExec, pid, pid))
	e.take(event(eventExit, pid, pid, 0))
	e.take(event(eventFork, first, first, pid, pid))
	all := e.all
	if len(all) != 3 {
		t.Fatalf("%d processes", len(all))
	}
	if m := all[1]; !m.ended || m.exit.ExitStatus() != 3 || len(m.programs) != 1 {
		t.Errorf("%+v", m)
	}
	if m := all[2]; m.pid != pid || m.ended || len(m.programs) != 0 {
		t.Errorf("%+v", m)
	}
}

func event(what uint32, details ...int) []byte {
	b := make([]byte, detailsAt+16)
	binary.LittleEndian.PutUint32(b[eventAt:], what)
	for i, d := range details {
		binary.LittleEndian.PutUint32(b[detailsAt+4*i:], uint32(d))
	}
	return b
}
