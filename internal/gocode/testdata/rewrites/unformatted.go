package rewrites

import (
    "bytes"
    "crypto/sha256"
    "strconv"
)

// Unformatted is indented by blanks, and stays so.
func Unformatted(n int) [32]byte {
    var all bytes.Buffer
    for i := 0; i < 3; i++ {
        all.WriteString(strconv.Itoa(n)+"x") // rewrite: bytes.(*Buffer).WriteString
    }
    sum := sha256.Sum256(all.Bytes())
    return sum
}
