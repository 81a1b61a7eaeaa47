package reasons

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

var (
	words  = []string{"a word"}
	long   = []string{"a word of more than thirty-two bytes", "and another that does not fit the stack"}
	reader = strings.NewReader("")
	owned  owner
)

var (
	keyed   = Map(100)
	content = []byte(text)
	filled  = bytes.NewBufferString(text)
	few     = []int{1, 2, 3, 4, 5}
	parts   = make([][]int, 0, 4)
	done    sync.WaitGroup
)

var (
	entrance door
	home     house
)

var silent = slog.New(slog.DiscardHandler)

var rows = [][]int{{1, 2, 3, 4, 5, 6}, {11, 12, 13, 14, 15, 16}, {21, 22, 23, 24, 25, 26}}

var text = "a,b,c,d,e,f,g,h,a long text that is on the heap"

func BenchmarkAll(b *testing.B) {
	shared := 123456
	for i := 0; i < b.N; i++ {
		count += Hoist(123456, 3) + HoistNot(123456, 3) + HoistNotAssigned(123456, 3) + HoistNotShared(&shared, 3)
		count += int(Constant(i % 60))
		kept = ConstantError()
		if Compile(text) {
			count++
		}
		count += len(Append(100)) + len(Map(100)) + Buffer(10) + Split(text)
		Sort([]int{3, 1, 2})
		kept = Bytes(text)
		kept = Join(text, text)
		count += len(Collected(long))
		Joins(long)
		FewKeys(make(map[string]int), long)
		JoinsOfTwo(long)
		Box(1000 + i)
		kept = AppendToArgument(nil, 100)
		kept = AppendAnew(parts[:0], 40)
		AppendElsewhere(make([][]int, 3), 60)
		ends := list{next: &list{}}
		ends.next.next = &ends
		AppendToNext(&ends, 60)
		AppendToRest(nil, 100)
		kept = AppendOnce(nil, few[:1])
		count += len(AppendInLoops(20)) + AppendInRound(20) + len(MapInLoops(rows)) + Scan("12345")
		Log(&journal{}, 1000+i)
		LogFields(silent)
		Variadic(i, i)
		kept = Closure(i)
		kept = MethodValue(&entrance)
		kept = MethodValueOfField(&home)
		Pointers(3)
		Leaves(1000)
		kept = Returned(i)
		count += Sized(1000+i%8) + Formatted(i+1000)
		count += Lazy(1000+i, false) + int(Stream(text)) + Reuse(words) + Large(reader)
		if Fold(text) {
			count++
		}
		owned.Scratch(reader)
		kept = Cached("http://example.org/x")
		kept = Pointed()
		kept = Keys(keyed)
		kept = Between(10, 200)
		kept = Countdown(nil, 100)
		kept = Copied(content)
		kept = Text(filled)
		Pooled()
		Start(few)
		StartNamed(&done, few)
		Defer(few)
		kept = Counter()
	}
}
