"""Gets the peers, of pinned versions, from npm's registry into a folder, and builds what has to be built."""
import json
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


def llama_cpp(folder, source):
    """The program that runs it, and what it is. Its sources are a git bundle within a package; `source` has ours."""
    name, version = LLAMA
    archive, sources, build = folder / f"{name}-{version}.tgz", folder / f"llama.cpp-{version}", folder / "llama_peer"
    if not archive.exists():
        print(f"getting {name} {version}", flush=True)
        run("npm", "pack", f"{name}@{version}", cwd=folder)
    with tarfile.open(archive) as package:
        tag = json.load(package.extractfile("package/llama/llama.cpp.info.json"))["tag"]
        if not sources.exists():
            bundle = folder / "llama.cpp.bundle"
            bundle.write_bytes(package.extractfile("package/llama/gitRelease.bundle").read())
            run("git", "clone", "--quiet", bundle, sources)
    print("building llama.cpp; the first time takes minutes", flush=True)
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DLLAMA_SOURCE_DIR={sources}", "-Wno-dev")
    run("cmake", "--build", build, "--target", "llama_peer", "-j2")
    return build / "llama_peer", f"llama.cpp {tag} ({name} {version})"


def fovea(build):
    """The command and the program that takes turns."""
    run("cmake", "--build", build, "--target", "fovea_peer", "fovea_command", "-j2")
    return build / "fovea", build / "tests" / "bench" / "fovea_peer"


def fovea_version(command, root):
    """The command's output, and the commit where `root` is a clone."""
    def said(*call):
        try:
            return subprocess.run(call, capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""
    version = " ".join(said(command, "--version").split()[:2])
    commit = said("git", "-C", root, "describe", "--always", "--dirty")
    return f"{version} ({commit})" if commit else version
