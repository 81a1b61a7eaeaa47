package launch

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errQuota = errors.New("it is on a btrfs with a quota, and when that is reached the system kills a program that records there")

// underQuota tells whether the folder is on a btrfs and in a subvolume that has a
// limit, or may belong to a group of subvolumes that has one. Where such a limit
// is reached btrfs refuses to write a page of a mapped file once more, although
// it has a place: that kills the program. Other file systems count what a file
// takes when it first takes it.
func underQuota(folder string) bool {
	file, err := os.Open(folder)
	if err != nil {
		return false
	}
	defer file.Close()
	var system unix.Statfs_t
	if err := unix.Fstatfs(int(file.Fd()), &system); err != nil || system.Type != unix.BTRFS_SUPER_MAGIC {
		return false
	}
	const (
		fileSystem  = 0x8400941f // BTRFS_IOC_FS_INFO
		subvolumeOf = 0xd0009412 // BTRFS_IOC_INO_LOOKUP
		itsRoot     = 256        // BTRFS_FIRST_FREE_OBJECTID
	)
	var about struct {
		greatest, devices uint64
		id                [16]byte
		others            [992]byte
	}
	var subvolume struct {
		tree, object uint64
		name         [4080]byte
	}
	subvolume.object = itsRoot
	if !ask(file, fileSystem, unsafe.Pointer(&about)) || !ask(file, subvolumeOf, unsafe.Pointer(&subvolume)) {
		return false
	}
	id := fmt.Sprintf("%x-%x-%x-%x-%x", about.id[:4], about.id[4:6], about.id[6:8], about.id[8:10], about.id[10:])
	own := fmt.Sprintf("0_%d", subvolume.tree)
	limits, _ := filepath.Glob("/sys/fs/btrfs/" + id + "/qgroups/*/limit_flags")
	for _, limit := range limits {
		group := filepath.Base(filepath.Dir(limit))
		if strings.HasPrefix(group, "0_") && group != own {
			continue // another subvolume alone
		}
		if flags, err := os.ReadFile(limit); err == nil && !bytes.Equal(flags, []byte("0\n")) {
			return true
		}
	}
	return false
}

func ask(file *os.File, request uint, answer unsafe.Pointer) bool {
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, file.Fd(), uintptr(request), uintptr(answer))
	return errno == 0
}
