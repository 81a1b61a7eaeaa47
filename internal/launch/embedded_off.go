//go:build !embed

package launch

// embedded is empty without the build tag: library then looks beside the
// executable, so that vet and tests work before libmallow is built.
var embedded []byte
