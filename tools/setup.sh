#!/bin/sh
# Installs the Debian packages that building fovea needs; does nothing if all are installed.
#   tools/setup.sh          to build and run
#   tools/setup.sh --test   also for the whole test suite, with 64-bit Arm and firmware under emulation
#   tools/setup.sh --cross  also for the suite on 32-bit Arm, RISC-V and WebAssembly, Go's port, and hosts (tests/hosts)
#   tools/setup.sh --fuzz   to build, run and fuzz
set -eu
packages="g++ cmake ninja-build ccache python3 pkg-config xz-utils bzip2 ca-certificates
  nlohmann-json3-dev libcli11-dev libfmt-dev libstb-dev libwebp-dev libjpeg-dev
  libgtest-dev googletest"
case ${1-} in
  --test | --cross)
    packages="$packages clang-format-14 lld g++-aarch64-linux-gnu clang-19 qemu-user
      python3-numpy python3-pip default-jdk-headless cargo
      qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi
      libstdc++-arm-none-eabi-newlib picolibc-aarch64-linux-gnu"
    ;;
esac
if [ "${1-}" = --cross ]; then
  packages="$packages g++-arm-linux-gnueabihf g++-riscv64-linux-gnu emscripten chromium golang-go mypy
    meson mold lld-19 libc++-19-dev libc++abi-19-dev"
fi
if [ "${1-}" = --fuzz ]; then
  packages="$packages clang-19 libclang-rt-19-dev"
fi

missing=
for package in $packages; do
  case $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) in
    "install ok installed") ;;
    *) missing="$missing $package" ;;
  esac
done
[ -n "$missing" ] || exit 0

echo "Installing$missing"
root=
if [ "$(id -u)" != 0 ]; then root=sudo; fi
$root apt-get -qq update || echo "apt-get update was not complete; continuing" >&2
# shellcheck disable=SC2086
$root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
