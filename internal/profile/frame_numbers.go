package profile

// frameNumbers numbers the frames of places in one row, equal ones alike, so
// that what belongs to a frame is found without a look at its names.
type frameNumbers struct {
	search *search
	first  []int32 // of each place: where the numbers of its frames begin in all, plus 1
	all    []int32
	byName map[Frame]int32
	// Of each frame by number:
	frames     []*Frame
	sites      []bool  // it is no wrapper
	functions  []int32 // number of its function
	functionAt map[cpuKey]int32
}

func newFrameNumbers(s *search) *frameNumbers {
	return &frameNumbers{search: s, byName: make(map[Frame]int32), functionAt: make(map[cpuKey]int32)}
}

// prepare numbers the frames of a place that has a name.
func (f *frameNumbers) prepare(place int32) {
	if int(place) >= len(f.first) {
		f.first = append(f.first, make([]int32, len(f.search.places.all)-len(f.first))...)
	}
	if f.first[place] != 0 {
		return
	}
	f.first[place] = int32(len(f.all)) + 1
	frames := f.search.places.all[place].frames
	for i := range frames {
		number, known := f.byName[frames[i]]
		if !known {
			number = int32(len(f.frames))
			f.byName[frames[i]] = number
			f.frames = append(f.frames, &frames[i])
			f.sites = append(f.sites, f.search.accept(&frames[i]))
			f.functions = append(f.functions, f.functionNumber(&frames[i]))
		}
		f.all = append(f.all, number)
	}
}

// of returns the number of the frame at a position, whose place was prepared.
func (f *frameNumbers) of(at position) int32 {
	return f.all[int(f.first[f.search.placeIndex(at.node)]-1)+at.index]
}

func (f *frameNumbers) functionNumber(frame *Frame) int32 {
	key := cpuKey{frame.Function, frame.Module}
	number, known := f.functionAt[key]
	if !known {
		number = int32(len(f.functionAt))
		f.functionAt[key] = number
	}
	return number
}

func (f *frameNumbers) frame(number int32) *Frame { return f.frames[number] }

// function returns the number of the function of a frame: of all its lines.
func (f *frameNumbers) function(number int32) int32 { return f.functions[number] }

// siteAfter returns the index of the next frame of the place that is no
// wrapper; -1 where there is none.
func (f *frameNumbers) siteAfter(at position) int {
	place := f.search.placeIndex(at.node)
	count := len(f.search.places.all[place].frames)
	if at.index+1 >= count {
		return -1
	}
	first := int(f.first[place] - 1)
	for i := at.index + 1; i < count; i++ {
		if f.sites[f.all[first+i]] {
			return i
		}
	}
	return -1
}
