"""Gets the peers, of pinned versions, from npm's registry into a folder, and builds what has to be built."""
import json
import re
import subprocess
import tarfile

ONNX, LLAMA = ("onnxruntime-node", "1.30.0"), ("node-llama-cpp", "3.22.1")


def run(*command, cwd=None):
    done = subprocess.run([str(part) for part in command], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stdout[-4000:]}")


def onnx_runtime(folder):
    """A folder whose node_modules have it, and what it is."""
    name, version = ONNX
    package = folder / "node_modules" / name / "package.json"
    if not package.exists() or json.loads(package.read_text())["version"] != version:
        print(f"getting {name} {version}", flush=True)
        (folder / "package.json").write_text('{"private": true}\n')
        run("npm", "install", "--ignore-scripts", "--no-save", "--no-audit", "--no-fund", "--omit=optional",
            f"{name}@{version}", cwd=folder)
    return folder, f"ONNX Runtime {version}"


def onnx_library(folder, machine):
    """The library for Linux on `machine`, by Node's name for it, and what it is."""
    folder, what = onnx_runtime(folder)
    return next((folder / "node_modules" / ONNX[0] / "bin").glob(f"*/linux/{machine}/libonnxruntime.so.1")), what


def packed(folder, name, version):
    """The archive of a package."""
    archive = folder / f"{name.lstrip('@').replace('/', '-')}-{version}.tgz"
    if not archive.exists():
        print(f"getting {name} {version}", flush=True)
        run("npm", "pack", f"{name}@{version}", cwd=folder)
    return archive


def llama_sources(folder):
    """The folder of its sources, which are a git bundle within a package, and what it is."""
    name, version = LLAMA
    sources = folder / f"llama.cpp-{version}"
    with tarfile.open(packed(folder, name, version)) as package:
        tag = json.load(package.extractfile("package/llama/llama.cpp.info.json"))["tag"]
        if not sources.exists():
            bundle = folder / "llama.cpp.bundle"
            bundle.write_bytes(package.extractfile("package/llama/gitRelease.bundle").read())
            run("git", "clone", "--quiet", bundle, sources)
    return sources, f"llama.cpp {tag} ({name} {version})"


def llama_libraries(folder, machine):
    """The folder of the libraries as they are published for Linux on `machine`, one for each kind of processor."""
    libraries = folder / f"llama-{machine}"
    if libraries.exists():
        return libraries
    with tarfile.open(packed(folder, f"@{LLAMA[0]}/linux-{machine}", LLAMA[1])) as package:
        for member in package.getmembers():
            if member.name.endswith(".so"):
                libraries.mkdir(exist_ok=True)
                (libraries / member.name.rpartition("/")[2]).write_bytes(package.extractfile(member).read())
    return libraries


def llama_cpp(folder, source):
    """The program that runs it, built for this processor, and what it is; `source` has ours."""
    build = folder / "llama_peer"
    sources, what = llama_sources(folder)
    print("building llama.cpp; the first time takes minutes", flush=True)
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DLLAMA_SOURCE_DIR={sources}", "-Wno-dev")
    run("cmake", "--build", build, "--target", "llama_peer", "-j2")
    return build / "llama_peer", what


def compiler(build):
    """The C++ compiler of a build folder, by CMake's records, and that the build has no XNNPACK."""
    about = next((build / "CMakeFiles").glob("*/CMakeCXXCompiler.cmake")).read_text()
    name, version = (re.search(rf'set\(CMAKE_CXX_COMPILER_{key} "(.*?)"\)', about)[1] for key in ("ID", "VERSION"))
    bare = re.search(r"^FOVEA_XNNPACK:\w+=(OFF|0|FALSE|NO)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return f"{ {'GNU': 'gcc', 'Clang': 'clang'}.get(name, name)} {version}{' without XNNPACK' if bare else ''}"


def fovea(build):
    """The command and the program that takes turns."""
    run("cmake", "--build", build, "--target", "fovea_peer", "fovea_command", "-j2")
    return build / "fovea", build / "tests" / "bench" / "fovea_peer"


def said(*call):
    """The standard output of a command; "" where it fails or is missing."""
    try:
        return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def fovea_version(command, root):
    """The command's output, and the commit where `root` is a clone."""
    version = " ".join(said(command, "--version").split()[:2])
    commit = said("git", "-C", root, "describe", "--always", "--dirty")
    return f"{version} ({commit})" if commit else version


def library_commit(root):
    """The last commit that changed the library, or "changed" after it; "" where `root` is no clone."""
    parts = ("--", "runtime", "include", "cmake")
    commit = said("git", "-C", root, "log", "-1", "--format=%h", *parts)
    return commit + (" changed" if said("git", "-C", root, "status", "--porcelain", *parts) else "")
