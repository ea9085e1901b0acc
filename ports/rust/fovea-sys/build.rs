//! Finds the installed library and has it linked, statically if there is a static one.
//!
//! - `FOVEA_DIR`: where fovea is installed (the prefix given to `cmake --install`, or its folder `lib/cmake/fovea`)
//! - else what `pkg-config fovea` reports (`PKG_CONFIG`, `PKG_CONFIG_PATH` as usual)
//! - `FOVEA_LINK=dynamic`: link the shared library
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with a library below a prefix: `lib`, `lib64` or `lib/<triplet>`.
fn library_below(prefix: &Path) -> Option<PathBuf> {
    let mut folders = vec![prefix.to_path_buf(), prefix.join("lib"), prefix.join("lib64")];
    if let Ok(entries) = prefix.join("lib").read_dir() {
        folders.extend(entries.flatten().map(|entry| entry.path()));
    }
    folders.into_iter().find(|folder| has_static(folder) || has_dynamic(folder))
}

fn has_static(folder: &Path) -> bool {
    folder.join("libfovea.a").exists()
}

fn has_dynamic(folder: &Path) -> bool {
    ["libfovea.so", "libfovea.dylib"].iter().any(|name| folder.join(name).exists())
}

/// The library's folder for `FOVEA_DIR`: that folder or one of the three above it (`lib/cmake/fovea`) is a prefix.
fn from_directory(given: &Path) -> Result<PathBuf, String> {
    given
        .ancestors()
        .take(4)
        .find_map(library_below)
        .ok_or_else(|| format!("FOVEA_DIR is {}, and libfovea is not in its lib folder", given.display()))
}

fn from_pkg_config() -> Result<PathBuf, String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let help = "install fovea (cmake --install build/host-release --prefix DIR), then set FOVEA_DIR=DIR, or \
                PKG_CONFIG_PATH=DIR/lib/pkgconfig";
    let output = Command::new(&program)
        .args(["--variable=libdir", "fovea"])
        .output()
        .map_err(|error| format!("{} cannot be run ({error}): {help}", program.to_string_lossy()))?;
    if !output.status.success() {
        return Err(format!("pkg-config does not know fovea: {help}"));
    }
    let folder = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
    if has_static(&folder) || has_dynamic(&folder) {
        return Ok(folder);
    }
    Err(format!("pkg-config reports {}, and libfovea is not there: {help}", folder.display()))
}

fn main() {
    for name in ["FOVEA_DIR", "FOVEA_LINK", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let found = match env::var_os("FOVEA_DIR") {
        Some(given) => from_directory(Path::new(&given)),
        None => from_pkg_config(),
    };
    let folder = found.unwrap_or_else(|message| {
        eprintln!("error: {message}");
        std::process::exit(1);
    });
    let dynamic = env::var("FOVEA_LINK").map_or(!has_static(&folder), |link| link == "dynamic");
    println!("cargo:rustc-link-search=native={}", folder.display());
    println!("cargo:rustc-link-lib={}=fovea", if dynamic { "dylib" } else { "static" });
    for ancestor in folder.ancestors().take(3) {
        let headers = ancestor.join("include");
        if headers.join("fovea").join("fovea.h").exists() {
            println!("cargo:include={}", headers.display()); // DEP_FOVEA_INCLUDE of crates that depend on this one
            println!("cargo:rustc-env=FOVEA_INCLUDE={}", headers.display()); // for tests/layout.rs
            break;
        }
    }
    let system = env::var("CARGO_CFG_TARGET_FAMILY").unwrap_or_default();
    if system == "unix" {
        println!("cargo:rustc-link-lib=m");
    }
}
