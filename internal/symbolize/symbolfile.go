package symbolize

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zstd"
)

// A symbol file holds the names of some modules: of one in the cache, of all
// in a recording. format/recording.md specifies it.

const (
	symbolMagic   = "MALLOWSY"
	symbolVersion = 1
	symbolHead    = 16
	// mostSymbols bounds what a symbol file unpacks to; the largest that were
	// seen are of 30 MB.
	mostSymbols = 1 << 30
	mostWindow  = 8 << 20
)

// ErrNewerSymbols is the error for a symbol file that a newer mallow wrote.
var ErrNewerSymbols = errors.New("written by a newer mallow")

var errNoSymbols = errors.New("damaged symbols")

// moduleNames is what a symbol file has of one module.
type moduleNames struct {
	moduleHead
	table *nameTable
}

// moduleHead says what the names are of.
type moduleHead struct {
	Path      string   `json:"path"`
	BuildID   string   `json:"build_id,omitempty"` // in hexadecimal
	Size      uint64   `json:"size,omitempty"`
	ModTimeNs uint64   `json:"mtime_ns,omitempty"`
	Lines     bool     `json:"lines,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	// Sources are the files that the names were read from. Only the cache has them.
	Sources []sourceFile `json:"sources,omitempty"`
}

// sourceFile tells whether a file is still the one that was read.
type sourceFile struct {
	Role      string `json:"role"`
	Size      int64  `json:"size"`
	ModTimeNs int64  `json:"mtime_ns"`
}

func (h moduleHead) key() moduleKey {
	id, _ := hex.DecodeString(h.BuildID)
	return Module{Path: h.Path, BuildID: id, Size: h.Size, ModTimeNs: h.ModTimeNs}.version()
}

func headOf(m Module) moduleHead {
	return moduleHead{Path: m.Path, BuildID: hex.EncodeToString(m.BuildID), Size: m.Size, ModTimeNs: m.ModTimeNs}
}

// writeSymbols writes a symbol file: head and table of each module.
func writeSymbols(w io.Writer, heads []moduleHead, tables [][]byte) error {
	order := make([]int, len(heads))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		x, y := heads[a], heads[b]
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(x.BuildID, y.BuildID),
			cmp.Compare(x.Size, y.Size), cmp.Compare(x.ModTimeNs, y.ModTimeNs))
	})
	head := le.AppendUint32([]byte(symbolMagic), symbolVersion)
	if _, err := w.Write(le.AppendUint32(head, uint32(len(heads)))); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(mostWindow/2), zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		return err
	}
	part := func(b []byte) {
		if err == nil {
			_, err = z.Write(le.AppendUint32(nil, uint32(len(b))))
		}
		if err == nil {
			_, err = z.Write(b)
		}
	}
	for _, i := range order {
		text, jsonErr := json.Marshal(heads[i])
		if jsonErr != nil {
			return jsonErr
		}
		part(text)
		part(tables[i])
	}
	return errors.Join(err, z.Close())
}

// readSymbols reads a symbol file whole and checks all of it.
func readSymbols(b []byte) ([]moduleNames, error) {
	if len(b) < symbolHead || string(b[:8]) != symbolMagic {
		return nil, errNoSymbols
	}
	if version := le.Uint32(b[8:]); version > symbolVersion {
		return nil, fmt.Errorf("%w (symbols %d, this one reads %d)", ErrNewerSymbols, version, symbolVersion)
	}
	count := le.Uint32(b[12:])
	z, err := zstd.NewReader(bytes.NewReader(b[symbolHead:]), zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderMaxWindow(mostWindow), zstd.WithDecoderLowmem(true))
	if err != nil {
		return nil, errNoSymbols
	}
	defer z.Close()
	var content bytes.Buffer
	if n, err := io.Copy(&content, io.LimitReader(z, mostSymbols)); err != nil || n == mostSymbols {
		return nil, errNoSymbols
	}
	rest := content.Bytes()
	part := func() []byte {
		if len(rest) < 4 || uint64(le.Uint32(rest)) > uint64(len(rest)-4) {
			return nil
		}
		n := le.Uint32(rest)
		p := rest[4 : 4+n : 4+n]
		rest = rest[4+n:]
		return p
	}
	var modules []moduleNames
	for range count {
		var m moduleNames
		if json.Unmarshal(part(), &m.moduleHead) != nil {
			return nil, errNoSymbols
		}
		if m.table, err = newNameTable(part()); err != nil {
			return nil, err
		}
		modules = append(modules, m)
	}
	return modules, nil
}
