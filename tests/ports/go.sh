#!/bin/sh
# The package of ports/go against the installed library: vet, misuse with cgo's checks of pointers, the README's
# example, and the jobs compared with the command.   go.sh CMAKE BUILD_DIR
set -eu
cmake=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
work=$build/tests/ports/go
if ! command -v go >/dev/null; then
  echo "SKIPPED: no go, so ports/go is not tested (Debian: apt install golang-go)"
  exit 77
fi
rm -rf "$work/blobs" "$work/prefix" "$work/example"
mkdir -p "$work/blobs" "$work/example"
"$cmake" --install "$build" --prefix "$work/prefix" >/dev/null
sh "$here/job_blobs.sh" "$build/fovea" "$work/blobs"
unset CC CXX GOROOT # with Go's own compiler its library need not be built again
export FOVEA_BLOBS="$work/blobs" GOCACHE="$work/cache" GOPATH="$work/path" GOFLAGS=-mod=mod GOPROXY=off
export GOTELEMETRY=off GOTOOLCHAIN=local CGO_ENABLED=1 PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
export LD_LIBRARY_PATH="$work/prefix/lib"
cd "$root/ports/go"
unformatted=$(gofmt -l .)
if [ -n "$unformatted" ]; then echo "gofmt: $unformatted"; exit 1; fi
go vet ./...
# Go 1.21 and later check when they are built so, Go 1.19 when it is run so.
case $(go env GOVERSION) in
  go1.19* | go1.20*) GODEBUG=cgocheck=2 go test -count=1 . ;;
  *) GOEXPERIMENT=cgocheck2 go test -count=1 . ;;
esac
go build -o "$work/jobs" ./jobs
python3 "$here/jobs.py" "$build/fovea" "$work/blobs" "$work/jobs"

# The README's example, in a separate module.
sed -n '/^```go$/,/^```$/p' README.md | sed '/^```/d' >"$work/example/main.go"
{
  printf 'module example\n\ngo 1.19\n\nrequire fovea v0.0.0\n\n'
  printf 'replace fovea => %s\n' "$root/ports/go"
} >"$work/example/go.mod"
cp "$work/blobs/package-section.fovea" "$work/example/model.fovea"
cp "$work/blobs/package-section-encoder.fovea" "$work/example/encoder.fovea"
cp "$work/blobs/package-writer.fovea" "$work/example/writer.fovea"
cd "$work/example"
go vet .
go run . >output
grep -q "PNG library" output
