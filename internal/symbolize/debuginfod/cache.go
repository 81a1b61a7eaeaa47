package debuginfod

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The cache is that of the reference client: FOLDER/BUILDID/KIND, an empty file
// for what no server had, and files beside them with the seconds after which
// things are forgotten.

const (
	missName  = "cache_miss_s"
	missAfter = 600 * time.Second

	cleanName  = "cache_clean_interval_s" // its time is that of the last cleaning
	cleanAfter = 24 * time.Hour

	unusedName  = "max_unused_age_s"
	unusedAfter = 7 * 24 * time.Hour
)

func cacheFolder() string {
	if path := os.Getenv("DEBUGINFOD_CACHE_PATH"); filepath.IsAbs(path) {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	old := filepath.Join(home, ".debuginfod_client_cache")
	if info, err := os.Stat(old); err == nil && info.IsDir() {
		return old
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(folder, "debuginfod_client")
}

// setting reads how long something takes, as the user has set it in a file of
// the cache.
func setting(folder, name string, otherwise time.Duration) time.Duration {
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		return otherwise
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 32)
	if err != nil || seconds < 0 {
		return otherwise
	}
	return time.Duration(seconds) * time.Second
}

// cached tells whether a file is in the cache. The error is ErrNotFound when
// the cache knows that no server had it a little while ago.
func cached(folder, path string) (found bool, err error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, nil
	}
	if info.Size() > 0 {
		// The reference client removes what was not used for long.
		_ = os.Chtimes(path, time.Now(), time.Time{})
		return true, nil
	}
	if time.Since(info.ModTime()) < setting(folder, missName, missAfter) {
		return false, ErrNotFound
	}
	_ = os.Remove(path)
	return false, nil
}

// remember notes that no server has a file.
func remember(path string) {
	if os.MkdirAll(filepath.Dir(path), 0o700) != nil {
		return
	}
	if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0); err == nil {
		f.Close()
	}
}

// download is a file on its way.
type download struct {
	body     io.Reader
	most     int64
	progress func() // called for each 100 KiB
}

var errTooLarge = errors.New("what it sends is too large")

// to writes what comes beside path, and moves it there when check takes it.
func (d *download) to(path string, check func(string) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // not there any more when all went well
	err = errors.Join(d.copyTo(f), f.Chmod(0o400), f.Close())
	if err == nil {
		err = check(f.Name())
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

func (d *download) copyTo(f *os.File) error {
	var total int64
	for total <= d.most {
		n, err := io.CopyN(f, d.body, min(leastProgress, d.most-total+1))
		total += n
		d.progress()
		switch {
		case errors.Is(err, io.EOF) && total <= d.most:
			return nil
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Errorf("broken off after %d bytes", total)
		}
	}
	return errTooLarge
}

// clean removes what was not used for long, as the reference client does, if
// nobody did so lately.
func clean(folder string, now time.Time) {
	clock := filepath.Join(folder, cleanName)
	info, err := os.Lstat(clock)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if os.MkdirAll(folder, 0o700) == nil {
			_ = os.WriteFile(clock, fmt.Appendf(nil, "%d", int(cleanAfter.Seconds())), 0o644)
		}
		return
	case err != nil || now.Sub(info.ModTime()) < setting(folder, cleanName, cleanAfter):
		return
	}
	_ = os.Chtimes(clock, now, now)
	unused := setting(folder, unusedName, unusedAfter)
	programs, _ := os.ReadDir(folder)
	for _, program := range programs {
		if !program.IsDir() || strings.Trim(program.Name(), "0123456789abcdef") != "" {
			continue
		}
		within := filepath.Join(folder, program.Name())
		files, _ := os.ReadDir(within)
		for _, file := range files {
			if info, err := file.Info(); err == nil && info.Mode().IsRegular() && now.Sub(lastUse(info)) > unused {
				_ = os.Remove(filepath.Join(within, file.Name()))
			}
		}
		_ = os.Remove(within) // if it is empty
	}
}

func lastUse(info fs.FileInfo) time.Time {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	used := time.Unix(status.Atim.Unix())
	if used.Before(info.ModTime()) {
		return info.ModTime()
	}
	return used
}
