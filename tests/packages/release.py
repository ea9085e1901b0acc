"""The release archive: its bytes are the same when it is made again, also from an unpacked archive; in an empty folder
one command builds and installs it without a network; the lists of Meson and Bazel name all sources with the options of
CMake's build. README's example classifies a text as this build does.

  release.py SOURCE_DIR BUILD_DIR CC CXX PART...       parts: lists, build
"""
import ast
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tarfile

TEXT = "A library to read compressed audio files. It supports FLAC and Ogg Vorbis."


def run(*command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, **options)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        raise RuntimeError(f"{' '.join(str(part) for part in command)}\n" + "\n".join(lines[-30:]))
    return done.stdout


def make(build):
    """The archive made by the target `release`."""
    run("cmake", "--build", build, "--target", "release")
    return next((build / "release").glob("fovea-*.tar.xz"))


def digest(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def unpack(archive, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return next(folder.iterdir())


def sources(root):
    """What a build without XNNPACK compiles, found by looking."""
    own = {path.relative_to(root).as_posix() for path in (root / "runtime").rglob("*.cc")}
    return {place for place in own if "xnnpack" not in place} | {
        "third_party/highway/hwy/targets.cc", "third_party/highway/hwy/per_target.cc"}


def meson_lists(root):
    text = (root / "meson.build").read_text(encoding="utf-8")
    lists = re.findall(r"^(\w+) = files\(([^)]*)\)", text, re.MULTILINE)
    targets = dict(re.findall(r"\['(\w+)', \w+, \['-DHWY_DISABLED_TARGETS=\(([^']*)\)'", text))
    options = re.search(r"^options = cpp.get_supported_arguments\(\[([^\]]*)\]", text, re.MULTILINE)[1]
    found = {name: re.findall(r"'([^']+)'", body) for name, body in lists}
    return found, targets, set(re.findall(r"'([^']+)'", options))


def bazel_lists(root):
    """Reads BUILD.bazel as Python, of which Starlark is a part, with functions that note their arguments."""
    text = (root / "BUILD.bazel").read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef, ast.While, ast.Try, ast.Lambda, ast.With)):
            raise RuntimeError(f"BUILD.bazel, line {node.lineno}: not Starlark")
    rules = {}

    def cc_library(**arguments):
        rules[arguments["name"]] = arguments
    exec(compile(tree, "BUILD.bazel", "exec"),  # pylint: disable=exec-used
         {"cc_library": cc_library, "load": lambda *_: None, "package": lambda **_: None,
          "select": lambda choices: choices["//conditions:default"], "__builtins__": {}})
    for rule in rules.values():
        for dependency in rule.get("deps", []):
            if dependency.removeprefix(":") not in rules:
                raise RuntimeError(f"BUILD.bazel: {rule['name']} needs {dependency}, which is not there")
        for file in rule.get("srcs", []) + rule.get("hdrs", []) + rule.get("textual_hdrs", []):
            if not (root / file).is_file():
                raise RuntimeError(f"BUILD.bazel names {file}, which is not there")
    return rules


def compiled(build, root):
    """Place in the archive -> (disabled targets, options) of CMake's build."""
    commands = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    found = {}
    for entry in commands:
        match = re.search(r"(runtime/.*\.cc|hwy/(?:targets|per_target)\.cc)$", entry["file"])
        words = shlex.split(entry["command"])
        if not match or "-DFOVEA_BUILDING" not in words:
            continue
        place = match[1] if match[1].startswith("runtime") else f"third_party/highway/{match[1]}"
        if (root / place).exists() and "xnnpack" not in place:
            disabled = [word for word in words if word.startswith("-DHWY_DISABLED_TARGETS=")][-1]
            found[place] = set(re.findall(r"HWY_\w+", disabled.split("=", 1)[1])), set(words)
    return found


def same(what, found, expected):
    if set(found) != set(expected):
        raise RuntimeError(f"{what}: not equal: {sorted(set(found) ^ set(expected))[:5]}")


def check_lists(source, build, work):
    archive = make(build)
    first = digest(archive)
    os.utime(source / "README.md")
    if digest(make(build)) != first:
        raise RuntimeError("the second archive differs from the first")
    root = unpack(archive, work / "unpacked")
    inside = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
    strange = [place for place in inside
               if place.startswith(("tests/build", ".git/", ".gitignore", "build/")) or "__pyc" in place]
    if strange:
        raise RuntimeError(f"the archive contains {strange[:3]}")

    lists, targets, options = meson_lists(root)
    same("sources in meson.build", [place for entries in lists.values() for place in entries], sources(root))
    rules = bazel_lists(root)
    same("sources in BUILD.bazel", [file for rule in rules.values() for file in rule.get("srcs", [])], sources(root))
    headers = [path.relative_to(root).as_posix()
               for kind in ("*.h", "*.inc") for path in (root / "runtime").rglob(kind)]
    same("headers in BUILD.bazel",
         [name for name in rules["headers"]["textual_hdrs"] if name.startswith("runtime/")],
         [name for name in headers if "xnnpack" not in name])
    same("public headers", rules["interface"]["hdrs"],
         [path.relative_to(root).as_posix() for path in (root / "include/fovea").iterdir()])
    by_cmake = compiled(build, root)
    same("sources of CMake's build", by_cmake, sources(root))
    for group, entries in lists.items():
        for place in entries:
            disabled, words = by_cmake[place]
            same(f"targets of {place}", re.findall(r"HWY_\w+", targets[group]), disabled | {"HWY_RVV"})
            if not options <= words:
                raise RuntimeError(f"{place}: CMake's build does not have {sorted(options - words)}")
    for rule in rules.values():
        for place in rule.get("srcs", []):
            disabled = next(text for text in rule["local_defines"] if text.startswith("HWY_DISABLED"))
            same(f"targets of {place}", re.findall(r"HWY_\w+", disabled.split("=")[1]),
                 by_cmake[place][0] | {"HWY_RVV"})
    print(f"{archive.name}: {len(inside)} files, {archive.stat().st_size} bytes; Bazel was not run")
    return archive


def check_build(source, build, work, compilers):
    archive = make(build)
    root = unpack(archive, work / "unpacked")
    environment = {**os.environ, "CC": compilers[0], "CXX": compilers[1]}
    alone = ["unshare", "--net", "--map-root-user"]  # no network
    if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        print("the build may use a network: unshare is not possible here")
        alone = []
    prefix = work / "prefix"
    options = f"-DFOVEA_CACHE_DIR={work / 'no_such_cache'}"
    run(*alone, "cmake", f"-DPREFIX={prefix}", f"-DOPTIONS={options}", "-P", "build.cmake", cwd=root, env=environment)
    if (work / "no_such_cache").exists():
        raise RuntimeError("sources were fetched")
    again = digest(next((root / "build" / "release").glob("*.xz"))) if run(
        "cmake", "--build", root / "build", "--target", "release") else None
    if again != digest(archive):
        raise RuntimeError("the archive that an unpacked archive makes differs from it")
    example = work / "example"
    pc = next(prefix.rglob("fovea.pc")).parent
    environment["PKG_CONFIG_PATH"] = str(pc)
    flags = run("pkg-config", "--static", "--cflags", "--libs", "fovea", env=environment)
    run(compilers[0], source / "tests/tools/readme_example.c", "-o", example, "-static", *flags.split())
    model = work / "classifier.fovea"
    run(prefix / "bin" / "fovea", "convert", root / "tools/train/package-section", "-o", model, "--weights", "int8",
        "--compare", "none")
    expected = run(build / "tests" / "tools" / "readme_example", model, TEXT)
    found = run(example, model, TEXT)
    if found != expected:
        raise RuntimeError(f"the text is of class {found}, not {expected}")
    print(f"built by one command in an empty folder, archive of the archive equal, class {found.strip()}")


def main():
    source, build = (pathlib.Path(part).resolve() for part in sys.argv[1:3])
    work = build / "tests" / "packages"
    try:
        for part in sys.argv[5:]:
            if part == "lists":
                check_lists(source, build, work / part)
            else:
                check_build(source, build, work / part, sys.argv[3:5])
    except RuntimeError as fault:
        print(fault)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
