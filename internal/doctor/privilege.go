package doctor

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// Privilege says what a program gains over the one who starts it. The system
// then ignores LD_PRELOAD.
type Privilege struct {
	User         string // user that a setuid program runs as, "" for the caller
	Group        string // likewise for setgid
	Capabilities bool   // the file carries capabilities that the caller lacks
}

// Any holds when the program gains something.
func (p Privilege) Any() bool { return p.User != "" || p.Group != "" || p.Capabilities }

// privilegeOf follows the rules of execve(2) for the calling process.
func privilegeOf(file *os.File) Privilege {
	var none Privilege
	var system unix.Statfs_t
	if unix.Fstatfs(int(file.Fd()), &system) == nil && system.Flags&unix.ST_NOSUID != 0 {
		return none
	}
	if value, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err == nil && value == 1 {
		return none
	}
	info, err := file.Stat()
	if err != nil {
		return none
	}
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return none
	}
	var gained Privilege
	if info.Mode()&os.ModeSetuid != 0 && int(status.Uid) != os.Getuid() {
		gained.User = userName(status.Uid)
	}
	// Without the group's x bit it is a mark for locking, not setgid.
	if info.Mode()&os.ModeSetgid != 0 && status.Mode&0o010 != 0 && int(status.Gid) != os.Getgid() {
		gained.Group = groupName(status.Gid)
	}
	// Root gains nothing by capabilities.
	gained.Capabilities = os.Getuid() != 0 && grantsCapabilities(file)
	return gained
}

// grantsCapabilities reads the attribute of capabilities(7): a word of version
// and flags, then permitted and inheritable words in turn.
func grantsCapabilities(file *os.File) bool {
	attribute := make([]byte, 64)
	n, err := unix.Fgetxattr(int(file.Fd()), "security.capability", attribute)
	if err != nil || n < 12 {
		return false
	}
	const effective = 1
	if binary.LittleEndian.Uint32(attribute)&effective != 0 {
		return true
	}
	for at := 4; at+8 <= min(n, 20); at += 8 {
		if binary.LittleEndian.Uint32(attribute[at:]) != 0 {
			return true
		}
	}
	return false
}

func userName(id uint32) string {
	if u, err := user.LookupId(strconv.Itoa(int(id))); err == nil {
		return u.Username
	}
	return fmt.Sprint(id)
}

func groupName(id uint32) string {
	if g, err := user.LookupGroupId(strconv.Itoa(int(id))); err == nil {
		return g.Name
	}
	return fmt.Sprint(id)
}
