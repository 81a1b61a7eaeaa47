package symbolize

import (
	"bytes"
	"io"

	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"
)

// maxMinidebug bounds the unpacked symbol table that some distributions put
// into stripped files (.gnu_debugdata); theirs are below 10 MB.
const maxMinidebug = 256 << 20

// minidebug returns the ELF file within .gnu_debugdata, nil without one.
func (o *object) minidebug() *object {
	packed := o.content(".gnu_debugdata")
	if len(packed) == 0 {
		return nil
	}
	r, err := xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	data, err := io.ReadAll(io.LimitReader(r, maxMinidebug))
	if err != nil {
		return nil
	}
	inner, err := newObject(&mapping{path: o.path, data: data, info: o.info})
	if err != nil {
		return nil
	}
	return inner
}
