#!/bin/sh
# The crates of ports/rust against the installed library: the layout of structs, misuse, the README's example, and the
# jobs compared with the command.   rust.sh CMAKE BUILD_DIR CC
set -eu
cmake=$1 build=$2 cc=$3
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$build/tests/ports/rust
if ! command -v cargo >/dev/null; then
  echo "SKIPPED: no cargo, so ports/rust is not tested (Debian: apt install cargo)"
  exit 77
fi
python3 "$root/ports/rust/declarations.py" --check
rm -rf "$work/crates" "$work/blobs" "$work/prefix"
mkdir -p "$work/blobs" "$work/crates"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
sh "$here/job_blobs.sh" "$build/fovea" "$work/blobs"

# A copy: cargo writes beside the sources. The README's example is a separate program.
cp -rp "$root/ports/rust/." "$work/crates"
mkdir -p "$work/crates/example/src"
sed -n '/^```rust$/,/^```$/p' "$root/ports/rust/README.md" | sed '/^```/d' >"$work/crates/example/src/main.rs"
cat >"$work/crates/example/Cargo.toml" <<'END'
[package]
name = "example"
version = "0.1.0"
edition = "2021"
[dependencies]
fovea = { path = "../fovea" }
END
sed -i 's/members = \[/&"example", /' "$work/crates/Cargo.toml"
export CC="$cc" FOVEA_BLOBS="$work/blobs" CARGO_TARGET_DIR="$work/target" CARGO_HOME="$work/home" CARGO_NET_OFFLINE=true
unset FOVEA_DIR FOVEA_LINK RUSTFLAGS
PKG_CONFIG_PATH=$work/prefix/lib/pkgconfig
export PKG_CONFIG_PATH
cd "$work/crates"
cargo test --quiet --offline
cargo build --quiet --offline --examples --bins -p fovea -p example
python3 "$here/jobs.py" "$build/fovea" "$work/blobs" "$work/target/debug/examples/jobs"
cp "$work/blobs/package-section.fovea" "$work/crates/model.fovea"
cp "$work/blobs/package-section-encoder.fovea" "$work/crates/encoder.fovea"
cp "$work/blobs/package-writer.fovea" "$work/crates/writer.fovea"
"$work/target/debug/example" | grep -q "PNG library"
# The library is found by the prefix, by CMake's folder, and refused with a way out.
for directory in "$work/prefix" "$work/prefix/lib/cmake/fovea"; do
  FOVEA_DIR=$directory cargo check --quiet --offline -p fovea-sys
done
FOVEA_DIR=$work/prefix FOVEA_LINK=dynamic LD_LIBRARY_PATH=$work/prefix/lib cargo test --quiet --offline -p fovea-sys
if FOVEA_DIR=$work/blobs cargo check --quiet --offline -p fovea-sys 2>"$work/log"; then exit 1; fi
grep -q "libfovea is not in its lib folder" "$work/log"
