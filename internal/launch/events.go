package launch

import (
	"encoding/binary"
	"errors"
	"math/bits"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"mallow/internal/recording"
)

// familyEvents hears from the kernel what every process of a family forks,
// executes and how it ends (the process connector of Linux). Unlike a watcher it
// misses nothing, however short; it needs root's rights, or a kernel from 6.6
// on, and no pid namespace.
type familyEvents struct {
	first   int // process id of the first one
	socket  int
	wake    *os.File        // closed: the end
	done    chan bool       // whether nothing was missed
	members map[int]*member // by process id, until another process has it
	all     []*member       // in the order in which they were forked
}

func newFamilyEvents(first int) *familyEvents {
	e := &familyEvents{first: first, done: make(chan bool, 1), members: map[int]*member{}}
	e.add(first, 0)
	return e
}

func (e *familyEvents) add(pid, parent int) {
	m := &member{watched: watched{pid: pid, parent: parent}}
	e.members[pid] = m
	e.all = append(e.all, m)
}

// member is a process, from its fork to its end.
type member struct {
	watched
	exit  unix.WaitStatus
	ended bool
}

// The interface of linux/cn_proc.h.
const (
	connectorProcess = 1
	listenToEvents   = 1
	eventFork        = 1
	eventExec        = 2
	eventExit        = 0x80000000
	eventAt          = unix.NLMSG_HDRLEN + 20 // behind two headers
	detailsAt        = eventAt + 16
)

// ofProcesses is a filter for the kernel: it lets through what processes fork,
// execute and how they end. Threads begin and end in the same words, and mallow
// would wake for each.
func ofProcesses() []unix.SockFilter {
	const (
		load         = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		copyToX      = unix.BPF_MISC | unix.BPF_TAX
		ifEqual      = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ifEqualToX   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_X
		skip         = unix.BPF_JMP | unix.BPF_JA
		letThrough   = unix.BPF_RET | unix.BPF_K
		wholeMessage = 1 << 16
	)
	// What is loaded is taken for big-endian.
	event := bits.ReverseBytes32
	return []unix.SockFilter{
		{Code: load, K: eventAt},
		{Code: ifEqual, K: event(eventFork), Jf: 4},
		{Code: load, K: detailsAt + 8}, // the child's task, and behind it its process
		{Code: copyToX},
		{Code: load, K: detailsAt + 12},
		{Code: skip, K: 5},
		{Code: ifEqual, K: event(eventExec), Jt: 1},
		{Code: ifEqual, K: event(eventExit), Jf: 5},
		{Code: load, K: detailsAt}, // its own
		{Code: copyToX},
		{Code: load, K: detailsAt + 4},
		{Code: ifEqualToX, Jf: 1},
		{Code: letThrough, K: wholeMessage},
		{Code: letThrough, K: 0},
	}
}

// hearFamily returns nil where the kernel tells mallow nothing. The process has
// not executed anything yet.
func hearFamily(pid int) *familyEvents {
	socket, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_CONNECTOR)
	if err != nil {
		return nil
	}
	if err := listen(socket); err != nil {
		unix.Close(socket)
		return nil
	}
	stop, wake, err := os.Pipe()
	if err != nil {
		unix.Close(socket)
		return nil
	}
	e := newFamilyEvents(pid)
	e.socket, e.wake = socket, wake
	go e.run(stop)
	return e
}

func listen(socket int) error {
	const room = 8 << 20 // for the whole machine's events while mallow does not run
	if unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, room) != nil {
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_RCVBUF, room)
	}
	filter := ofProcesses()
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.SetsockoptSockFprog(socket, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &program); err != nil {
		return err
	}
	if err := unix.Bind(socket, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: connectorProcess}); err != nil {
		return err
	}
	le := binary.LittleEndian
	b := make([]byte, eventAt+4)
	le.PutUint32(b[0:], uint32(len(b)))
	le.PutUint16(b[4:], unix.NLMSG_DONE)
	le.PutUint32(b[16:], connectorProcess) // idx
	le.PutUint32(b[20:], connectorProcess) // val
	le.PutUint16(b[32:], 4)                // bytes of what follows
	le.PutUint32(b[eventAt:], listenToEvents)
	return unix.Sendto(socket, b, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK})
}

// end returns all processes that were there; false when some may be missing.
func (e *familyEvents) end() ([]*member, bool) {
	e.wake.Close()
	whole := <-e.done
	unix.Close(e.socket)
	for _, m := range e.all {
		if !m.ended {
			m.unwaited = m.pid != e.first
		}
	}
	return e.all, whole && len(e.all[0].programs) > 0
}

func (e *familyEvents) run(stop *os.File) {
	defer stop.Close()
	buffer := make([]byte, 4096)
	whole := true
	for stopping := false; ; {
		n, _, err := unix.Recvfrom(e.socket, buffer, unix.MSG_DONTWAIT)
		switch {
		case err == nil:
			e.take(buffer[:n])
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.ENOBUFS): // more than there was room for
			whole = false
		case !errors.Is(err, unix.EAGAIN) || stopping:
			// The end of the first process came before mallow could hear of it otherwise.
			e.done <- whole && errors.Is(err, unix.EAGAIN)
			return
		default:
			ready := []unix.PollFd{{Fd: int32(e.socket), Events: unix.POLLIN}, {Fd: int32(stop.Fd()), Events: unix.POLLIN}}
			unix.Poll(ready, -1)
			stopping = ready[1].Revents != 0
		}
	}
}

func (e *familyEvents) take(b []byte) {
	if len(b) < detailsAt+16 {
		return
	}
	word := func(i int) int { return int(binary.LittleEndian.Uint32(b[detailsAt+4*i:])) }
	switch binary.LittleEndian.Uint32(b[eventAt:]) {
	case eventFork:
		parent, child := word(1), word(3)
		family := e.members[parent] != nil
		delete(e.members, child)
		if family {
			e.add(child, parent)
		}
	case eventExec:
		if m := e.members[word(1)]; m != nil {
			m.note(executed(m.pid)) // or what it has executed since
			m.ended = false         // where another thread executes, the first one ends before
		}
	case eventExit:
		if m := e.members[word(1)]; m != nil {
			m.exit, m.ended = unix.WaitStatus(word(2)), true
			parent := e.members[m.parent]
			m.unwaited = m.pid != e.first && (parent == nil || parent.ended || waitsForNobody(m.parent))
		}
	}
}

func executed(pid int) program {
	folder := "/proc/" + strconv.Itoa(pid)
	path, err := os.Readlink(folder + "/exe")
	return programOf(path, err, func() string {
		name, _ := os.ReadFile(folder + "/comm")
		return string(name)
	})
}

// exitsOf lists how processes ended, the first few thousand of them.
func exitsOf(members []*member) []recording.ProcessExit {
	const most = 4096
	var exits []recording.ProcessExit
	for _, m := range members {
		if !m.ended || len(exits) == most {
			continue
		}
		exit := recording.ProcessExit{PID: uint64(m.pid)}
		if m.exit.Signaled() {
			exit.Signal = int(m.exit.Signal())
		} else {
			exit.Status = m.exit.ExitStatus()
		}
		exits = append(exits, exit)
	}
	return exits
}
