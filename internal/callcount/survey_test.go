package callcount

import (
	"debug/elf"
	"testing"
)

// Nearly every function of real programs and libraries can be counted; what cannot is too short, or has one of the
// other reasons that a refusal names.
func TestMostFunctionsCanBeCounted(t *testing.T) {
	for _, path := range []string{"/bin/bash", "/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"} {
		file, err := elf.Open(path)
		if err != nil {
			t.Logf("%s: %v", path, err)
			continue
		}
		defer file.Close()
		symbols, err := file.DynamicSymbols()
		if err != nil {
			t.Fatal(err)
		}
		text := file.Section(".text")
		code, err := text.Data()
		if err != nil {
			t.Fatal(err)
		}
		all, long, countable := 0, 0, 0
		reasons := make(map[string]int)
		for _, s := range symbols {
			if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Size == 0 || s.Value < text.Addr || s.Value+s.Size > text.Addr+text.Size {
				continue
			}
			body := code[s.Value-text.Addr:][:s.Size]
			all++
			if len(body) > 16 {
				long++
			}
			if _, err := newPlan(body); err == nil {
				countable++
			} else {
				reasons[err.Error()]++
			}
		}
		t.Logf("%s: %d of %d functions, %d of them longer than 16 bytes; refused: %v", path, countable, all, long, reasons)
		if countable*100 < long*99 {
			t.Errorf("%s: only %d of %d functions that are longer than 16 bytes can be counted", path, countable, long)
		}
	}
}
