"""Builds fovea as part of other programs, each with settings that real projects have (situations.py), and runs README's
example in it: it must classify a text as this build does.

  hosts.py SOURCE_DIR BUILD_DIR CACHE_DIR CC CXX [-DNAME=VALUE...] [SITUATION...]

All situations if none is named. Further options are for all of them: -DCMAKE_BUILD_TYPE=Debug compiles faster.
"""
import os
import pathlib
import shutil
import subprocess
import sys

from situations import SITUATIONS

SKIPPED = 77
TEXT = "A library to read compressed audio files. It supports FLAC and Ogg Vorbis."


class Host:
    """A CMake project that contains fovea, in its folder."""

    def __init__(self, name, situation, folder, source, options):
        self.name, self.situation, self.folder, self.source = name, situation, folder, source
        self.build = folder / "build"
        self.options = options

    def write(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        fovea = self.situation.get("source", lambda host: self.source)(self)
        add = self.situation.get("add", 'add_subdirectory("@fovea@" fovea)').replace("@fovea@", str(fovea))
        example = self.source / "tests" / "tools" / "readme_example.c"
        lines = [f"cmake_minimum_required(VERSION {self.situation.get('minimum', '3.25')})",
                 f"project(host {self.situation.get('languages', 'C CXX')})", self.situation.get("parent", ""), add,
                 f'add_executable(host "{example}")', "target_link_libraries(host PRIVATE fovea::fovea)",
                 self.situation.get("after", "")]
        (self.folder / "CMakeLists.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        for name, text in self.situation.get("files", {}).items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, *command):
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
        if done.returncode:
            lines = (done.stdout + done.stderr).splitlines()
            raise RuntimeError(f"{' '.join(str(part) for part in command)}\n" + "\n".join(lines[-30:]))
        return done.stdout

    def make(self):
        self.write()
        generator = self.situation.get("generator", "Ninja")
        fast = [] if self.situation.get("whole") else ["-DFOVEA_XNNPACK=OFF", "-DFOVEA_SIMD=baseline"]
        self.run("cmake", "-S", self.folder, "-B", self.build, "-G", generator, *self.options, *fast, "-Wno-dev",
                 *self.situation.get("configure", []))
        config = self.situation.get("config", [])
        self.run("cmake", "--build", self.build, "-j", os.cpu_count(), *config)

    def binary(self, name="host"):
        return next(path for path in (self.build / name, *self.build.glob(f"*/{name}")) if path.is_file())


def main():
    source, build, cache = (pathlib.Path(part).resolve() for part in sys.argv[1:4])
    cc, cxx = sys.argv[4:6]
    further = [name for name in sys.argv[6:] if name.startswith("-D")]
    names = [name for name in sys.argv[6:] if name not in further] or list(SITUATIONS)
    work = build / "tests" / "hosts"
    work.mkdir(parents=True, exist_ok=True)
    model = work / "classifier.fovea"
    convert = [build / "fovea", "convert", source / "tools/train/package-section", "-o", model]
    subprocess.run([*convert, "--weights", "int8", "--compare", "none"], check=True, capture_output=True)
    example = build / "tests" / "tools" / "readme_example"
    expected = subprocess.run([example, model, TEXT], check=True, capture_output=True, text=True).stdout.split()[0]
    faults, skipped = 0, 0
    for name in names:
        situation = SITUATIONS[name]
        missing = [tool for tool in situation.get("needs", []) if not shutil.which(tool)]
        if missing:
            print(f"NOT TESTED: {name}, for want of {missing[0]}", flush=True)
            skipped += 1
            continue
        compilers = situation.get("compilers", (cc, cxx))
        options = [f"-DCMAKE_C_COMPILER={compilers[0]}", f"-DCMAKE_CXX_COMPILER={compilers[1]}",
                   f"-DFOVEA_CACHE_DIR={cache}", *further]
        host = Host(name, situation, work / name, source, options)
        try:
            host.make()
            found = host.run(host.binary(), model, TEXT).split()[0]
            if found != expected:
                raise RuntimeError(f"the text is of class {found}, not {expected}")
            situation.get("check", lambda _: None)(host)
            print(f"{name}: {situation['what']}", flush=True)
            shutil.rmtree(host.folder)
        except (RuntimeError, OSError) as fault:
            print(f"{name}: {situation['what']}: {fault}", flush=True)
            faults += 1
    if faults:
        return 1
    return SKIPPED if skipped == len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
