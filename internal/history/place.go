package history

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
	folder, err := git(repository, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return "", fmt.Errorf("no git repository to keep the history in: say where with --db FILE or %s", Environment)
	}
	return filepath.Join(folder, fileName), nil
}

// git runs git in a folder and returns the first line that it says.
func git(folder string, args ...string) (string, error) {
	out, err := gitCommand(folder, args...).Output()
	line, _, _ := strings.Cut(string(out), "\n")
	return line, err
}

// gitCommand takes no settings that change what git prints, and asks nobody.
func gitCommand(folder string, args ...string) *exec.Cmd {
	c := exec.Command("git", args...)
	c.Dir = folder
	c.Env = append(os.Environ(), "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0")
	return c
}
