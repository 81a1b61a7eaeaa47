package history

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mallow/internal/git"
)

// Environment names the variable that says where the history is.
const Environment = "MALLOW_HISTORY"

// fileName is that of the database in git's folder: all worktrees of a
// repository share it, and no checkout or clean touches it.
var fileName = filepath.Join("mallow", "history.db")

// Location returns where the history of a repository is: where MALLOW_HISTORY
// says, else in git's common folder of the repository, which is any folder in
// it. The file need not exist.
func Location(repository string) (string, error) {
	if told := os.Getenv(Environment); told != "" {
		return filepath.Abs(told)
	}
	folder, err := firstLine(repository, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if errors.Is(err, git.ErrMissing) {
		return "", fmt.Errorf("%w to find the history of a repository with: say where with --db FILE or %s", err, Environment)
	}
	if err != nil {
		return "", fmt.Errorf("no git repository to keep the history in: say where with --db FILE or %s", Environment)
	}
	return filepath.Join(folder, fileName), nil
}

// firstLine runs git in a folder and returns the first line that it says.
func firstLine(folder string, args ...string) (string, error) {
	out, err := git.Run(context.Background(), folder, args...)
	line, _, _ := strings.Cut(out, "\n")
	return line, err
}
