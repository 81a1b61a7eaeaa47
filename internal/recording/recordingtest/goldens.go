// Package recordingtest has recordings for tests, and what they are made with.
package recordingtest

import "mallow/internal/recording"

// Golden is a recording of format/testdata/handmade.
type Golden struct {
	Name   string
	Images []*Image
}

// Goldens returns the handmade recordings. They describe programs that never
// were; their modules are not on any disk.
func Goldens() []Golden {
	return []Golden{
		{"single-thread", singleThread()},
		{"two-threads", twoThreads()},
		{"fork", forked()},
		{"truncated", truncated()},
		{"symbolic", symbolic()},
		{"regions", regions()},
		{"sampled", sampled()},
	}
}

// demo are the modules of the made-up program and addresses of calls in it.
type demo struct{ program, library, libc uint32 }

func newDemo(im *Image) demo {
	return demo{
		program: im.Module(Module{
			Path: "/opt/demo/bin/demo", BuildID: []byte{0xde, 0x30}, Kind: recording.ModuleExecutable,
			Start: 0x5500_0000_0000, End: 0x5500_0001_0000, Bias: 0x5500_0000_0000,
		}),
		library: im.Module(Module{
			Path: "/opt/demo/lib/libtable.so.1", BuildID: []byte{0x7a, 0xb1, 0xe0}, Kind: recording.ModuleLibrary,
			Start: 0x7f00_0000_0000, End: 0x7f00_0002_0000, Bias: 0x7f00_0000_0000,
		}),
		libc: im.Module(Module{
			Path: "/opt/demo/lib/libc.so.6", BuildID: []byte{0x1b, 0xc0}, Kind: recording.ModuleLibc,
			Start: 0x7f10_0000_0000, End: 0x7f10_0020_0000, Bias: 0x7f10_0000_0000,
		}),
	}
}

func (d demo) start() []Frame { return []Frame{Call(d.program, 0x5500_0000_1025)} }

func (d demo) main(more ...Frame) []Frame {
	return append(d.start(), append([]Frame{Call(d.libc, 0x7f10_0002_9d90), Call(d.program, 0x5500_0000_1180)}, more...)...)
}

func (d demo) inProgram(offset uint64) Frame { return Call(d.program, 0x5500_0000_0000+offset) }
func (d demo) inLibrary(offset uint64) Frame { return Call(d.library, 0x7f00_0000_0000+offset) }
func (d demo) inLibc(offset uint64) Frame    { return Call(d.libc, 0x7f10_0000_0000+offset) }

// singleThread calls every family of functions, fails, frees NULL, and leaves
// blocks behind.
func singleThread() []*Image {
	im := NewImage(4711, "/opt/demo/bin/demo")
	d := newDemo(im)
	p := NewProcess(im)
	t := p.Thread()

	grow := im.Stack(recording.Malloc, d.main(d.inProgram(0x1210))...)
	zeroed := im.Stack(recording.Calloc, d.main(d.inProgram(0x1220))...)
	resize := im.Stack(recording.Realloc, d.main(d.inProgram(0x1230))...)
	name := im.Stack(recording.Strdup, d.main(d.inProgram(0x1240), d.inLibrary(0x2010))...)
	wide := im.Stack(recording.Wcsdup, d.main(d.inProgram(0x1248))...)
	object := im.Stack(recording.New, d.main(d.inProgram(0x1250), d.inLibrary(0x2020))...)
	aligned := im.Stack(recording.PosixMemalign, d.main(d.inProgram(0x1260))...)
	open := im.Stack(recording.Malloc, d.main(d.inProgram(0x1270), d.inLibc(0x7c3a0))...)
	null := im.Stack(recording.FreeNull, d.inProgram(0x1290))

	for range 1000 {
		t.Free(t.Alloc(grow, 16))
	}
	file := t.Alloc(open, 472)
	table := t.Alloc(zeroed, 800)
	for size := uint64(1600); size <= 12800; size *= 2 {
		table = t.Realloc(table, resize, size)
	}
	var names []Block
	for i := range uint64(40) {
		names = append(names, t.Alloc(name, 5+i%7))
	}
	for range 25 {
		t.Alloc(object, 48) // never freed
	}
	t.Free(t.Alloc(wide, 44))
	t.Free(t.Alloc(aligned, 4096))
	t.Fail(grow)
	for _, n := range names {
		t.Free(n)
	}
	t.Free(table)
	t.FreeByLibc(file)
	for range 3 {
		t.FreeNull(null)
	}
	return []*Image{p.Finish()}
}

// twoThreads hands blocks from the thread that makes them to one that frees
// them.
func twoThreads() []*Image {
	im := NewImage(4800, "/opt/demo/bin/demo")
	d := newDemo(im)
	p := NewProcess(im)
	producer, consumer := p.Thread(), p.Thread()

	message := im.Stack(recording.New, d.main(d.inProgram(0x1310))...)
	reply := im.Stack(recording.Malloc, append([]Frame{d.inLibc(0x8_9fd0)}, d.inProgram(0x1400), d.inProgram(0x1410))...)
	var queue []Block
	for i := range uint64(500) {
		queue = append(queue, producer.Alloc(message, 64+i%64))
		if len(queue) == 20 {
			for _, b := range queue {
				answer := consumer.Alloc(reply, 32)
				consumer.Free(b)
				producer.Free(answer)
			}
			queue = nil
		}
	}
	return []*Image{p.Finish()}
}

// forked has a child that uses the stacks of its parent, adds its own, and
// frees what it inherited.
func forked() []*Image {
	im := NewImage(4900, "/opt/demo/bin/demo")
	d := newDemo(im)
	parent := NewProcess(im)
	t := parent.Thread()
	both := im.Stack(recording.Malloc, d.main(d.inProgram(0x1510))...)
	inherited := t.Alloc(both, 100)
	kept := t.Alloc(both, 200)

	child, ct := parent.Fork(4901)
	late := child.Image.Module(Module{
		Path: "/opt/demo/lib/libplugin.so", Kind: recording.ModuleLibrary,
		Start: 0x7f20_0000_0000, End: 0x7f20_0001_0000, Bias: 0x7f20_0000_0000,
	})
	own := child.Image.Stack(recording.Calloc, d.main(d.inProgram(0x1520), Call(late, 0x7f20_0000_0310))...)
	ct.Free(inherited)
	for range 10 {
		ct.Free(ct.Alloc(both, 300))
	}
	ct.Alloc(own, 77)

	own2 := im.Stack(recording.Strdup, d.main(d.inProgram(0x1530))...)
	t.Free(t.Alloc(own2, 9))
	t.Free(inherited)
	t.Free(kept)
	return []*Image{parent.Finish(), child.Finish()}
}

// truncated is a recording that lacks what it could not record, killed in the
// middle of a call.
func truncated() []*Image {
	im := NewImage(5000, "/opt/demo/bin/demo")
	im.Incomplete = recording.IncompleteDisk | recording.IncompleteStacks
	d := newDemo(im)
	p := NewProcess(im)
	t := p.Thread()
	noInformation := im.Stack(recording.Malloc, Truncated(1), d.inProgram(0x1610), d.inProgram(0x1620))
	damaged := im.Stack(recording.Malloc, Truncated(2), d.inProgram(0x1630))
	whole := im.Stack(recording.Malloc, d.main(d.inProgram(0x1640))...)
	for range 30 {
		t.Free(t.Alloc(noInformation, 24))
	}
	t.Alloc(damaged, 1000)
	t.Alloc(whole, 2000)
	for range 7 {
		t.Alloc(Stack{}, 10)
	}
	t.InFlight(whole)
	return []*Image{p.Finish()}
}

// sampled has CPU samples: in the program, with a recursion and inlined frames,
// in malloc and free, of libmallow itself, on a cut stack, and lost ones.
func sampled() []*Image {
	im := NewImage(5100, "/opt/demo/bin/demo")
	d := newDemo(im)
	mallow := im.Module(Module{
		Path: "/opt/mallow/libmallow.so", Kind: recording.ModuleLibrary,
		Start: 0x7f30_0000_0000, End: 0x7f30_0010_0000, Bias: 0x7f30_0000_0000,
	})
	p := NewProcess(im)
	t := p.Thread()
	grow := im.Stack(recording.Malloc, d.main(d.inProgram(0x1210))...)
	for range 10 {
		t.Free(t.Alloc(grow, 16))
	}
	const ms = 1_000_000
	im.SampledCPU(5*ms, 1400*ms)
	at := func(offset uint64) Frame {
		return Frame{Tag: recording.TagInterrupted, Value: 0x5500_0000_0000 + offset, Module: d.program}
	}
	within := func(offset uint64) Frame {
		return Frame{Tag: recording.TagInterrupted, Value: 0x7f30_0000_0000 + offset, Module: mallow}
	}
	im.CPU(recording.CPUNoRoom, 10*ms, 2)
	im.CPU(recording.CPUProgram, 600*ms, 120, d.main(at(0x117f))...)
	im.CPU(recording.CPUProgram, 200*ms, 40, d.main(d.inProgram(0x1210), d.inProgram(0x1210), at(0x150f))...)
	im.CPU(recording.CPUAllocator, 100*ms, 20, d.main(d.inProgram(0x1210), Call(mallow, 0x7f30_0000_0101), within(0x200))...)
	im.CPU(recording.CPUAllocator, 50*ms, 10, d.main(d.inProgram(0x1260), within(0x300))...)
	im.CPU(recording.CPURecorder, 300*ms, 60, d.main(d.inProgram(0x1210), Call(mallow, 0x7f30_0000_0101), within(0x400))...)
	im.CPU(recording.CPUSampler, 2*ms, 0)
	im.CPU(recording.CPUProgram, 50*ms, 10, Truncated(1), at(0x150f))
	im.CPU(recording.CPUNoTimer, 0, 3)
	im.CPU(recording.CPUSignalTaken, 0, 1)
	return []*Image{p.Finish()}
}

// symbolic is what an imported log looks like: places in the source, without
// stacks.
func symbolic() []*Image {
	im := NewImage(0, "")
	im.Flags = recording.FlagSymbolic
	p := NewProcess(im)
	t := p.Thread()
	url := im.Symbolic("", "lib/url.c", "", 1813)
	add := im.Symbolic("Curl_dyn_addn", "lib/dynbuf.c", "libcurl.so.4", 96)
	strdup := im.Stack(recording.Strdup, url)
	grow := im.Stack(recording.Realloc, url, add)
	copied := t.Alloc(strdup, 12)
	buffer := t.Alloc(grow, 32)
	buffer = t.Realloc(buffer, grow, 64)
	t.Free(buffer)
	t.Free(copied)
	return []*Image{p.Finish()}
}

// regions serves requests, which parse, in two threads and in a child; the
// program ends while one is served.
func regions() []*Image {
	im := NewImage(5100, "/opt/demo/bin/demo")
	d := newDemo(im)
	p := NewProcess(im)
	first, second := p.Thread(), p.Thread()
	request := im.Region(0, "request")
	parse := im.Region(request, "parse")
	alone := im.Region(0, "parse")
	hostile := im.Region(0, "\x1b[2J\xff\x00 name")

	outside := im.Stack(recording.Malloc, d.main(d.inProgram(0x1210))...)
	answer := im.StackIn(request, recording.Malloc, d.main(d.inProgram(0x1220))...)
	token := im.StackIn(parse, recording.Malloc, d.main(d.inProgram(0x1230))...)
	config := im.StackIn(alone, recording.Malloc, d.main(d.inProgram(0x1230))...)
	libc := im.StackIn(request, recording.Malloc, d.main(d.inProgram(0x1240), d.inLibc(0x7c3a0))...)

	kept := first.Alloc(outside, 1000)
	first.Enter(alone)
	first.Free(first.Alloc(config, 50))
	first.Leave(alone)
	serve := func(t *Thread) {
		t.Enter(request)
		a := t.Alloc(answer, 64)
		t.Enter(parse)
		for range 3 {
			t.Alloc(token, 10)
		}
		t.Leave(parse)
		t.FreeByLibc(t.Alloc(libc, 472))
		t.Free(a)
	}
	for range 4 {
		serve(first)
		first.Leave(request)
	}
	serve(second) // to the end
	first.Free(kept)
	second.Enter(hostile)
	second.Leave(hostile)
	im.Unit(recording.Unit{Name: "request", Source: recording.UnitOfProgram, Amount: 5, Calls: 5})
	im.Unit(recording.Unit{Name: "sent bytes", Source: recording.UnitOfProgram, Amount: 150_000, Calls: 3})
	im.Unit(recording.Unit{Name: "never", Source: recording.UnitOfProgram})
	im.Unit(recording.Unit{Name: "serve", Source: recording.UnitOfFunction, Amount: 5, Calls: 5})
	im.Unit(recording.Unit{Name: "late", Source: recording.UnitOfFunction, Refusal: recording.RefusedNotLoaded})

	child, ct := p.Fork(5101)
	ct.Inherit(request) // it begins inside
	inner := child.Image.Region(request, "child")
	work := child.Image.StackIn(inner, recording.Calloc, d.main(d.inProgram(0x1250))...)
	ct.Enter(inner)
	ct.Alloc(work, 77)
	ct.Leave(inner)
	child.Image.Unit(recording.Unit{Name: "request", Source: recording.UnitOfProgram, Amount: 1, Calls: 1})
	return []*Image{p.Finish(), child.Finish()}
}
