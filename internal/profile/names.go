package profile

import "mallow/internal/recording"

// NameAll asks a symbolizer for every code address in recordings, those of
// frames that no report has shown yet included.
func NameAll(recordings []*recording.Recording, s Symbolizer) {
	forest := newForest(recordings)
	frames := newFrameTable(forest, newPlaces(s, forest.images))
	var places []int32
	seen := make(map[int32]bool)
	for n := range forest.parent {
		if i := frames.placeIndex(node(n)); !seen[i] {
			seen[i] = true
			places = append(places, i)
		}
	}
	frames.places.name(places)
}
