package recording_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"mallow/internal/recording"
	"mallow/internal/recording/recordingtest"
)

const handmade = "../../format/testdata/handmade"

// TestHandmade holds the recordings of format/testdata/handmade against the
// descriptions that they were made from.
func TestHandmade(t *testing.T) {
	for _, golden := range recordingtest.Goldens() {
		folder := filepath.Join(handmade, golden.Name+".mallow")
		if *update {
			os.RemoveAll(folder)
			if err := os.MkdirAll(folder, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, im := range golden.Images {
				if err := im.Write(folder, recordingtest.Packed); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, im := range golden.Images {
			got, err := os.ReadFile(filepath.Join(folder, im.Name))
			if err != nil {
				t.Fatalf("%v (go test ./internal/recording -run TestHandmade -update makes it)", err)
			}
			if !bytes.Equal(got, im.Bytes()) {
				t.Errorf("%s/%s differs from its description", folder, im.Name)
			}
		}
		if _, err := recording.Open(folder); err != nil {
			t.Error(err)
		}
	}
}
