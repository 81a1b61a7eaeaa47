package rule_test

import (
	"testing"

	"mallow/internal/advise/rule"
)

// CARGO_HOME may be anywhere, as in images of containers.
func TestOfPackage(t *testing.T) {
	for file, is := range map[string]bool{
		"/src/mine/.cargo/registry/src/crates-1949cf8c6b5b557f/toml-0.8.23/src/map.rs": true,
		"/usr/local/cargo/registry/src/other-1ecc6299db9ec823/toml-0.5.11/src/map.rs":  true,
		"/usr/local/cargo/git/checkouts/toml-rs-3e7b1a0f9c2d4e58/4f2a1b9/src/map.rs":   true,
		"/usr/share/cargo/registry/toml-0.8.23/src/map.rs":                             true,
		"/src/mine/target/release/build/html5ever-a5bc05763680edcc/out/rules.rs":       true,
		"/src/mine/build/out/rules.rs":                                                 false,
		"/usr/include/c++/12/bits/stl_vector.h":                                        true,
		"/src/mine/registry/src/main.rs":                                               false,
		"/src/mine/git/checkouts/demo/src/main.rs":                                     false,
	} {
		if rule.OfPackage(file) != is {
			t.Errorf("%s: %v", file, !is)
		}
	}
}
