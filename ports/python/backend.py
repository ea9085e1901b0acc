"""Builds the package for pip, which calls build_wheel: Python files and the shared libraries.

The libraries come from the build folder in FOVEA_LIBRARY_DIR, or are built with CMake. A relative folder is resolved
against the repository, because pip runs elsewhere.
"""
import base64
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
METADATA = """Metadata-Version: 2.1
Name: fovea
Version: {version}
Summary: Attention models on small machines: converted models with numpy arrays in and out
Requires-Python: >=3.9
Requires-Dist: numpy >=1.20
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
    subprocess.run(["cmake", "-S", ROOT, "-B", build, "-DFOVEA_BUILD_TOOLS=OFF", "-DFOVEA_BUILD_TESTS=OFF",
                    "-DFOVEA_PORT=posix"], check=True)
    subprocess.run(["cmake", "--build", build, "--target", "fovea_shared", "fovea_port_shared", "--parallel"],
                   check=True)
    return build


def _libraries():
    suffix = "dylib" if sys.platform == "darwin" else "so"
    folder, found = _built(), {}
    for name in ("fovea", "fovea_port"):
        files = [folder / sub / f"lib{name}.{suffix}" for sub in ("", "runtime", "ports", "lib")]
        existing = [file for file in files if file.exists()]
        if not existing:
            sys.exit(f"{folder}: no lib{name}.{suffix}; FOVEA_LIBRARY_DIR names a build folder with the libraries: "
                     f"'cmake --build {folder} --target installed' builds them")
        found[f"fovea/lib/lib{name}.{suffix}"] = existing[0].read_bytes()
    return found


def _record(files, own):
    """The list of all files; its own entry has no hash."""
    lines = []
    for name, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{own},,\n"


def _information(version, tag):
    info = f"fovea-{version}.dist-info"
    return {f"{info}/METADATA": METADATA.format(version=version).encode(),
            f"{info}/WHEEL": WHEEL.format(tag=tag).encode()}


def _tag():
    return f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without this function pip would build everything twice."""
    for path, data in _information(_version(), _tag()).items():
        file = pathlib.Path(metadata_directory) / path
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(data)
    return file.parent.name


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    tag, version = _tag(), _version()
    sources = sorted((HERE / "fovea").glob("*.py")) + [HERE / "fovea" / "py.typed"]
    files = {f"fovea/{source.name}": source.read_bytes() for source in sources}
    files.update(_libraries())
    files.update(_information(version, tag))
    record = f"fovea-{version}.dist-info/RECORD"
    files[record] = _record(files, record).encode()
    name = f"fovea-{version}-{tag}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            wheel.writestr(path, data)
    return name
