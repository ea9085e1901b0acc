"""Builds the package for pip, which calls build_wheel: Python files and the shared libraries.

The libraries come from the build folder in FOVEA_LIBRARY_DIR, or are built with CMake in build/python, with a line for
each twentieth of the work (pip -v shows them). A relative folder is resolved against the repository, because pip runs
elsewhere. The wheel's platform tag is proved by what the libraries need (platform_tag.py).
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

from platform_tag import platform_tag

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
METADATA = """Metadata-Version: 2.1
Name: fovea
Version: {version}
Summary: Attention models on small machines: converted models with numpy arrays in and out
Requires-Python: >=3.9
Requires-Dist: numpy >=1.20
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

"""
WHEEL = "Wheel-Version: 1.0\nGenerator: fovea\nRoot-Is-Purelib: false\nTag: {tag}\n"


def _version():
    header = (ROOT / "include" / "fovea" / "version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"define FOVEA_VERSION_[A-Z]+ (\d+)", header))


def _built():
    given = os.environ.get("FOVEA_LIBRARY_DIR")
    if given:
        return ROOT / given
    build = ROOT / "build" / "python"
    _report(f"FOVEA_LIBRARY_DIR is not set: CMake builds the libraries in {build}, which takes minutes the first time")
    _run(["cmake", "-S", ROOT, "-B", build, "-DFOVEA_BUILD_TOOLS=OFF", "-DFOVEA_BUILD_TESTS=OFF",
          "-DFOVEA_PORT=posix"], "configured")
    _run(["cmake", "--build", build, "--target", "fovea_shared", "fovea_port_shared", "--parallel",
          str(os.cpu_count() or 1)], "built")
    return build


def _report(text):
    print(f"fovea: {text}", flush=True)


def _run(command, done):
    """Runs a command, with a line for each twentieth of what it reports as done; all of its output if it fails."""
    output, shown = [], 0
    if shutil.which(command[0]) is None:
        sys.exit(f"fovea: no {command[0]}; install it, or set FOVEA_LIBRARY_DIR to a folder with built libraries")
    with subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace") as process:
        for line in process.stdout:
            output.append(line)
            percent = _percent(line)
            if percent is not None and percent >= shown + 5:
                shown = percent - percent % 5
                _report(f"{shown} % {done}")
    if process.returncode != 0:
        sys.exit("".join(output[-200:]) + f"fovea: {' '.join(map(str, command))} failed")
    _report(done)


def _percent(line):
    """Of a line of ninja, "[12/300] ...", or of make, "[  4%] ..."."""
    step = re.match(r"\[ *(\d+)/(\d+)\]", line)
    if step:
        return 100 * int(step[1]) // max(1, int(step[2]))
    share = re.match(r"\[ *(\d+)%\]", line)
    return int(share[1]) if share else None


def _libraries():
    suffix = "dylib" if sys.platform == "darwin" else "so"
    folder, found = _built(), {}
    for name in ("fovea", "fovea_port"):
        files = [folder / sub / f"lib{name}.{suffix}" for sub in ("", "runtime", "ports", "lib")]
        existing = [file for file in files if file.exists()]
        if not existing:
            sys.exit(f"{folder}: no lib{name}.{suffix}; FOVEA_LIBRARY_DIR names a build folder with the libraries: "
                     f"'cmake --build {folder} --target installed' builds them")
        found[f"fovea/lib/lib{name}.{suffix}"] = existing[0]
    return found


def _record(files, own):
    """The list of all files; its own entry has no hash."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{own},,\n"


def _metadata(version):
    return (METADATA.format(version=version) + (HERE / "README.md").read_text(encoding="utf-8")).encode()


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without this function pip would build everything twice."""
    version = _version()
    folder = pathlib.Path(metadata_directory) / f"fovea-{version}.dist-info"
    folder.mkdir(exist_ok=True)
    (folder / "METADATA").write_bytes(_metadata(version))
    return folder.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    version, libraries = _version(), _libraries()
    platform, reasons = platform_tag(list(libraries.values()))
    for line in [*reasons, f"the wheel is for {platform}"]:
        _report(line)
    tag, info = f"py3-none-{platform}", f"fovea-{version}.dist-info"
    sources = sorted((HERE / "fovea").glob("*.py")) + [HERE / "fovea" / "py.typed"]
    files = {f"fovea/{source.name}": source.read_bytes() for source in sources}
    files.update((path, library.read_bytes()) for path, library in libraries.items())
    files.update({f"{info}/METADATA": _metadata(version), f"{info}/WHEEL": WHEEL.format(tag=tag).encode()})
    record = f"{info}/RECORD"
    files[record] = _record(files, record).encode()
    name = f"fovea-{version}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():  # the same bytes for the same files
            entry = zipfile.ZipInfo(path)
            entry.external_attr, entry.compress_type = 0o100644 << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    return name
