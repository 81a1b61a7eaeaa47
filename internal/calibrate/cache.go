package calibrate

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"mallow/internal/advise/price"
	"mallow/internal/own"
)

// cache is the file that keeps what was measured. Figures that are not kept
// would be others with each report: without a place for them there are none.
type cache struct{ path string }

// cacheFor names the file by all that the figures depend on: the machine's
// processor, libc, and the programs and libraries that were measured.
func cacheFor(program []byte, libraries ...string) (c cache, ok bool) {
	folder := own.CacheFolder("", "costs")
	if folder == "" {
		return cache{}, false
	}
	hash := sha256.New()
	fmt.Fprintf(hash, "%d\n%s\n", cacheVersion, processor())
	hash.Write(program)
	for _, path := range slices.Concat(libcs, libraries) {
		fmt.Fprintf(hash, "\n%s %s", path, identity(path))
	}
	return cache{filepath.Join(folder, fmt.Sprintf("costs-%.16x.json", hash.Sum(nil)))}, true
}

const (
	cacheVersion = 1
	cacheLimit   = 1 << 16
)

// libcs are where distributions have libc.
var libcs = []string{"/lib/x86_64-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/libc.so.6"}

// identity tells a version of a file from another one.
func identity(path string) string {
	var status unix.Stat_t
	if unix.Stat(path, &status) != nil {
		return ""
	}
	return fmt.Sprint(status.Size, status.Mtim.Sec, status.Mtim.Nsec)
}

func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// read returns nil when there is nothing, or nothing usable.
func (c cache) read() *price.Costs {
	content, err := own.Read(c.path, cacheLimit)
	if err != nil {
		return nil
	}
	var costs price.Costs
	if json.Unmarshal(content, &costs) != nil || costs.Check() != nil {
		return nil
	}
	return &costs
}

// write fails in silence: it is done again next time.
func (c cache) write(costs *price.Costs) {
	if content, err := json.Marshal(costs); err == nil {
		_ = own.Replace(c.path, content)
	}
}
