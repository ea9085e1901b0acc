"""Makes the release archive: the sources with those of their dependencies, for builds without a network.

  release.py SOURCE_DIR OUTPUT_DIR VERSION URL NAME=FOLDER... HEADERS=FOLDER...

OUTPUT_DIR gets fovea-VERSION.tar.xz, the same bytes from the same sources on any day and in any folder, with lists of
sources for Meson and Bazel; and the recipes of vcpkg, Conan and Meson's wraps, which contain the archive's checksums
and the URL that the archive will be published at. NAME is a dependency that is compiled (xnnpack, highway, ...),
HEADERS one whose headers the command includes (nlohmann, CLI, fmt, stb).
"""
import hashlib
import io
import pathlib
import re
import subprocess
import sys
import tarfile

import build_lists
import recipes

# Not in the archive: the tests, which take most of the room, and trained models but the one of README.md.
PARTS = ("CMakeLists.txt", "CMakePresets.json", "README.md", "LICENSE", ".github", "cmake", "include", "ports",
         "runtime", "tools")
ALONE = ("tests/tools/readme_example.c", "tests/tools/attention_example.c", "tests/tools/reuse_example.c")
LEFT_OUT = ("tools/train/package-section-hierarchical", "tools/train/package-section-hierarchical.fovea",
            "tools/train/package-writer", "tools/train/package-writer-draft", "tools/train/date-normaliser")
NOT_SOURCES = {"__pycache__", "node_modules", "target", ".gradle"}
# Folders of dependencies that no build reads.
NOT_COMPILED = {
    "xnnpack": {"test", "bench", "eval", "models", "doc", "docs", "ynnpack", ".github", "build_srcs"},
    "highway": {"docs", "g3doc", "debian", "cmake", "examples", "tests", "contrib", ".github"},
    "pthreadpool": {"test", "bench", "examples", ".github", "jni"},
    "fxdiv": {"test", "bench", ".github"},
    "utf8proc": {"test", "bench", "data", "ruby", ".github"},
    "zlib": {"contrib", "examples", "test", "doc", "msdos", "nintendods", "old", "os400", "qnx", "watcom", "win32",
             "amiga", ".github"},
}
COMPILED = tuple(NOT_COMPILED)
HEADERS = {"nlohmann": None, "CLI": None, "fmt": None,  # None: all of them
           "stb": {"stb_easy_font.h", "stb_image.h", "stb_truetype.h"}}
PACKAGES = {"nlohmann": "nlohmann-json3-dev", "CLI": "libcli11-dev", "fmt": "libfmt-dev", "stb": "libstb-dev"}
TIME = 946684800  # for every file: archives of equal sources are equal


def tracked(source):
    """Files that git knows, or None in an unpacked archive."""
    if not (source / ".git").exists():
        return None
    listed = subprocess.run(["git", "-C", str(source), "ls-files", "-z"], capture_output=True, check=False)
    if listed.returncode:
        return None
    changed = subprocess.run(["git", "-C", str(source), "status", "--porcelain"], capture_output=True, text=True,
                             check=False).stdout.splitlines()
    if changed:
        print(f"release: {len(changed)} files differ from the last commit or are not in it; files that git does not "
              "track are left out", file=sys.stderr)
    return {name.decode() for name in listed.stdout.split(b"\0") if name}


def files_below(folder, skipped=frozenset()):
    for path in sorted(folder.iterdir()):
        if path.name in skipped or path.name in NOT_SOURCES or path.suffix == ".pyc":
            continue
        if path.is_dir():
            yield from files_below(path)
        else:
            yield path


def own_files(source):
    known = tracked(source)
    for part in (*PARTS, *ALONE):
        path = source / part
        for file in files_below(path) if path.is_dir() else [path] if path.exists() else []:
            place = file.relative_to(source).as_posix()
            if known is not None and place not in known:
                continue
            if not any(place == name or place.startswith(f"{name}/") for name in LEFT_OUT):
                yield place, file


def unused_kernels(folder):
    """XNNPACK's kernels that it has replaced by better ones: four fifths of its bytes, compiled only for its tests."""
    used, unused = set(), set()
    for file in (folder / "cmake" / "gen").glob("*_microkernels.cmake"):
        for name, body in re.findall(r"SET\((\w+)\s([^)]*)\)", file.read_text(encoding="utf-8")):
            (unused if name.startswith("NON_PROD") else used).update(body.split())
    return unused - used


def third_party(folders):
    for name, folder in folders.items():
        if name in COMPILED:
            unused = unused_kernels(folder) if name == "xnnpack" else set()
            for file in files_below(folder, NOT_COMPILED[name]):
                if file.relative_to(folder).as_posix() in unused:
                    continue
                yield f"third_party/{name}/{file.relative_to(folder).as_posix()}", file
            continue
        wanted = HEADERS[name]
        for file in files_below(folder / name):
            if wanted is None or file.name in wanted:
                yield f"third_party/include/{file.relative_to(folder).as_posix()}", file
        for licence in (pathlib.Path("/usr/share/doc") / PACKAGES[name] / "copyright",
                        folder / f"LICENSE.{name}"):  # in the package, or in the archive that this is made from
            if licence.exists():
                yield f"third_party/include/LICENSE.{name}", licence
                break
        else:
            raise SystemExit(f"release: no licence of {name}: install {PACKAGES[name]} with its documentation")


def add(archive, root, place, data, executable):
    entry = tarfile.TarInfo(f"{root}/{place}")
    entry.size, entry.mtime = len(data), TIME
    entry.mode = 0o755 if executable else 0o644
    archive.addfile(entry, io.BytesIO(data))


def contents(source, folders, version):
    """Names in the archive -> (bytes, whether it is a program)."""
    made = {}
    for place, file in [*own_files(source), *third_party(folders)]:
        made[place] = file.read_bytes(), file.stat().st_mode & 0o100 != 0
    packaging = source / "cmake" / "packaging"
    made["build.cmake"] = (packaging / "build.cmake").read_bytes(), False
    for place, text in build_lists.written(packaging, made, version).items():
        made[place] = text.encode(), False
    return made


def main():
    source, output, version, url = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4]
    given = dict(argument.split("=", 1) for argument in sys.argv[5:])
    folders = {name: pathlib.Path(folder) for name, folder in sorted(given.items())}
    without = sorted({*COMPILED, *HEADERS} ^ set(folders))
    if without:
        raise SystemExit(f"release: missing or unknown: {', '.join(without)}")
    root = f"fovea-{version}"
    output.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    made = contents(source, folders, version)
    with tarfile.open(fileobj=packed, mode="w:xz", format=tarfile.PAX_FORMAT, preset=3) as archive:
        for place in sorted(made):
            add(archive, root, place, *made[place])
    data = packed.getvalue()
    file = output / f"{root}.tar.xz"
    file.write_bytes(data)
    recipes.write(source / "cmake" / "packaging", output, version, f"{url or 'file://' + str(output)}/{file.name}",
                  hashlib.sha256(data).hexdigest(), hashlib.sha512(data).hexdigest())
    if not url:
        print("release: FOVEA_RELEASE_URL is empty: the recipes name this folder as the archive's address",
              file=sys.stderr)
    print(f"{file}: {len(made)} files, {len(data)} bytes, sha256 {hashlib.sha256(data).hexdigest()}")


if __name__ == "__main__":
    main()
