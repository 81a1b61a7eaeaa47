//! Finds libmallow: `MALLOW_LIB_DIR` is the folder that it lies in (of an installed mallow:
//! `pkg-config --variable=libdir mallow`), or else the build folder of the source tree around this crate.
//! `MALLOW_LINK` is `static`, the default, or `dylib`.

use std::{env, path::PathBuf};

fn main() {
    let folder = env::var_os("MALLOW_LIB_DIR").map_or_else(
        || PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap()).join("../../build"),
        PathBuf::from,
    );
    let link = env::var("MALLOW_LINK").unwrap_or_else(|_| "static".into());
    assert!(
        link == "static" || link == "dylib",
        "MALLOW_LINK is {link:?}, and may be static or dylib"
    );
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib={link}=mallow");
    println!("cargo:rerun-if-env-changed=MALLOW_LIB_DIR");
    println!("cargo:rerun-if-env-changed=MALLOW_LINK");
}
