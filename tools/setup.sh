#!/bin/sh
# Installs the Debian packages that building fovea needs; does nothing if all are installed.
#   tools/setup.sh          to build and run
#   tools/setup.sh --test   also for the whole test suite, with 64-bit Arm and firmware under emulation
#   tools/setup.sh --cross  also for the suite on 32-bit Arm, RISC-V, WebAssembly and Windows (under Wine), for the
#                           ports to Go and Kotlin, and for hosts (tests/hosts)
#   tools/setup.sh --fuzz   to build, run and fuzz
#   tools/setup.sh --npm DIR   Node, and in DIR npm's packages that tests/npm compares with
set -eu
packages="g++ cmake ninja-build ccache python3 pkg-config xz-utils bzip2 ca-certificates
  nlohmann-json3-dev libcli11-dev libfmt-dev libstb-dev libwebp-dev libjpeg-dev libsndfile1-dev
  libgtest-dev googletest"
case ${1-} in
  --test | --cross)
    packages="$packages clang-format-14 lld g++-aarch64-linux-gnu clang-19 qemu-user
      python3-numpy python3-yaml python3-pykwalify python3-ruamel.yaml python3-pip default-jdk-headless cargo
      qemu-system-arm gcc-arm-none-eabi libnewlib-arm-none-eabi
      libstdc++-arm-none-eabi-newlib picolibc-aarch64-linux-gnu"
    ;;
esac
if [ "${1-}" = --cross ]; then
  packages="$packages g++-arm-linux-gnueabihf g++-riscv64-linux-gnu emscripten chromium golang-go mypy kotlin
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf gcc-xtensa-lx106 picolibc-xtensa-lx106-elf
    g++-mingw-w64-x86-64-posix wine wine64 meson mold lld-19 libc++-19-dev libc++abi-19-dev"
fi
if [ "${1-}" = --npm ]; then
  : "${2:?--npm needs a directory}"
  packages="$packages nodejs npm python3-sentencepiece"
  if command -v npm >/dev/null; then packages=python3-sentencepiece; fi
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
if [ -n "$missing" ]; then
  echo "Installing$missing"
  root=
  if [ "$(id -u)" != 0 ]; then root=sudo; fi
  $root apt-get -qq update || echo "apt-get update was not complete; continuing" >&2
  # shellcheck disable=SC2086
  $root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends $missing >/dev/null
fi
if [ "${1-}" = --npm ]; then
  mkdir -p "$2"
  npm install --silent --no-audit --no-fund --prefix "$2" @huggingface/jinja@0.5.11 @anush008/tokenizers@0.6.0
fi
