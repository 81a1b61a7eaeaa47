package recording

// ReadImage is readImage for the tests outside the package, which make their
// images with recordingtest.
var ReadImage = readImage

// ChunkBytes is the unit in which sections are read.
const ChunkBytes = chunkBytes
