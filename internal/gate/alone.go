package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"mallow/internal/git"
)

// patience is how long a gate waits for another one. It ends, because a
// benchmark may run a gate itself, which would wait for the one that runs it.
const patience = 30 * time.Minute

// Alone waits until no other gate runs in the working tree that a folder is in:
// both would build there, and write into the same budget. say hears that it has
// to wait. Where there is nothing that can be locked it does not wait.
//
// What is locked is the folder of the tree itself, so that nothing is left
// behind and nobody who may run a gate needs the right to write.
func Alone(ctx context.Context, folder string, say func(text string)) (release func(), err error) {
	if root, err := git.Run(ctx, folder, "rev-parse", "--show-toplevel"); err == nil {
		folder = root
	}
	tree, err := os.Open(folder)
	if err != nil {
		return func() {}, nil
	}
	deadline := time.Now().Add(patience)
	for waits := false; ; waits = true {
		err := unix.Flock(int(tree.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case !errors.Is(err, unix.EWOULDBLOCK):
			return func() { tree.Close() }, nil
		case time.Now().After(deadline):
			tree.Close()
			return nil, fmt.Errorf("another mallow gate runs in %s, since more than %v", folder, patience)
		case !waits:
			say(fmt.Sprintf("another mallow gate runs in %s: this one waits until it has ended", folder))
		}
		select {
		case <-ctx.Done():
			tree.Close()
			return nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}
