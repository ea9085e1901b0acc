"""Libraries of microcontroller ecosystems that cmake/microcontroller.py makes.

  microcontroller.py SOURCE HIGHWAY WORK CC CXX [--compile LIMITS] [--update]

Manifests against the ecosystems' rules: Zephyr's with pykwalify (python3-pykwalify), whose schema and this one are
written from Zephyr's documentation; the rest by rules below, from the documentation of each. --compile also builds each
library with this machine's compiler, as its ecosystem would, and runs the sample; and compiles it for microcontrollers
whose compilers are installed, whose bytes LIMITS states (2 % more or less).
"""
import json
import logging
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "limits"))
import stated  # noqa: E402

SAMPLE = "1.00 1.50 2.00 3.00 4.00 5.00"
MODULE_SCHEMA = {
    "type": "map", "mapping": {
        "name": {"type": "str"},
        "build": {"type": "map", "mapping": {
            "cmake": {"type": "str"}, "kconfig": {"type": "str"}, "cmake-ext": {"type": "bool"},
            "kconfig-ext": {"type": "bool"}, "depends": {"type": "seq", "sequence": [{"type": "str"}]}}},
        "tests": {"type": "seq", "sequence": [{"type": "str"}]},
        "samples": {"type": "seq", "sequence": [{"type": "str"}]},
        "boards": {"type": "seq", "sequence": [{"type": "str"}]}}}
COMPONENT_SCHEMA = {
    "type": "map", "mapping": {
        "version": {"type": "str", "required": True, "pattern": r"\d+\.\d+\.\d+"},
        "description": {"type": "str"}, "url": {"type": "str"},
        "tags": {"type": "seq", "sequence": [{"type": "str", "pattern": r"[A-Za-z0-9_\-]{3,32}"}]},
        "targets": {"type": "seq", "sequence": [{"type": "str"}]},
        "dependencies": {"type": "map", "mapping": {"regex;(.+)": {"type": "any"}}}}}
CATEGORIES = ["Display", "Communication", "Signal Input/Output", "Sensors", "Device Control", "Timing", "Data Storage",
              "Data Processing", "Other"]
# Compilers, flags, and headers of the C library. Debian's compilers for RISC-V and Xtensa have no headers of C++: those
# of the compiler for Arm fit.
MACHINES = {
    "cortex-m7": ("arm-none-eabi-", "-mcpu=cortex-m7 -mfpu=fpv5-d16 -mthumb -mfloat-abi=hard", None),
    "esp32-c3": ("riscv64-unknown-elf-", "-march=rv32imc -mabi=ilp32", "/usr/lib/picolibc/riscv64-unknown-elf/include"),
    "xtensa": ("xtensa-lx106-elf-", "-mlongcalls", "/usr/lib/xtensa-lx106-elf/include"),
}
CPP_HEADERS = "/usr/include/newlib/c++"
# The functions of Zephyr and ESP-IDF, as far as one library needs them.
STANDIN = """\
cmake_minimum_required(VERSION 3.20)
project(standin C CXX)
function(zephyr_library_named name)
  add_library(part STATIC)
endfunction()
function(zephyr_library_sources)
  target_sources(part PRIVATE ${ARGN})
endfunction()
function(zephyr_library_include_directories)
  target_include_directories(part PRIVATE ${ARGN})
endfunction()
function(zephyr_include_directories)
  include_directories(${ARGN})
  target_include_directories(part PUBLIC ${ARGN})
endfunction()
function(zephyr_library_compile_definitions)
  target_compile_definitions(part PRIVATE ${ARGN})
endfunction()
function(zephyr_library_compile_options)
  target_compile_options(part PRIVATE ${ARGN})
endfunction()
macro(idf_component_register)
  cmake_parse_arguments(component "" "" "SRCS;INCLUDE_DIRS;PRIV_INCLUDE_DIRS" ${ARGN})
  add_library(part STATIC ${component_SRCS})
  target_include_directories(part PUBLIC ${component_INCLUDE_DIRS} PRIVATE ${component_PRIV_INCLUDE_DIRS})
  set(COMPONENT_LIB part)
endmacro()
set(CONFIG_FOVEA ON)
add_subdirectory(LIBRARY library)
add_executable(sample SOURCES)
target_link_libraries(sample PRIVATE part m)
"""
SERIAL = """\
#include <stdio.h>
struct Port {
  void begin(long) {}
  void print(float x, int digits) { printf("%.*f", digits, x); }
  void print(const char* text) { fputs(text, stdout); }
  void println(const char* text) { puts(text); }
} Serial;
"""


def run(*words, **options):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def refuse(file, text):
    sys.exit(f"{file}: {text}")


def check_yaml(file, schema):
    logging.disable(logging.CRITICAL)  # errors are reported once
    sys.path.append("/usr/lib/python3/dist-packages")  # another Python than Debian's may be the first
    try:
        import yaml  # pylint: disable=import-outside-toplevel
        from pykwalify.core import Core  # pylint: disable=import-outside-toplevel
        from pykwalify.errors import SchemaError  # pylint: disable=import-outside-toplevel
    except ImportError:
        print(f"NOT TESTED: {file.name}, for want of python3-pykwalify (tools/setup.sh --test)")
        return None
    content = yaml.safe_load(file.read_text(encoding="utf-8"))
    try:
        Core(source_data=content, schema_data=schema).validate()
    except SchemaError as error:
        refuse(file, error)
    broken = {**content, "unknown": 1}
    try:
        Core(source_data=broken, schema_data=schema).validate()
    except SchemaError:
        return content
    return refuse(file, "the schema accepts a key that does not exist")


def check_zephyr(folder):
    check_yaml(folder / "zephyr/module.yml", MODULE_SCHEMA)
    for path in ("zephyr/CMakeLists.txt", "zephyr/Kconfig", "samples/attention/sample.yaml"):
        if not (folder / path).exists():
            refuse(folder, f"{path} is missing, which module.yml names")
    symbols = set(re.findall(r"^config (\w+)$", (folder / "zephyr/Kconfig").read_text(encoding="utf-8"), re.MULTILINE))
    used = set(re.findall(r"CONFIG_(\w+)", (folder / "zephyr/CMakeLists.txt").read_text(encoding="utf-8")))
    if used != symbols:
        refuse(folder / "zephyr/Kconfig", f"has {sorted(symbols)}, and CMakeLists.txt uses {sorted(used)}")


def check_arduino(folder, version):
    fields = dict(line.split("=", 1) for line in (folder / "library.properties").read_text(encoding="utf-8").split("\n")
                  if line)
    for key in ("name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url",
                "architectures", "includes"):
        if key not in fields:
            refuse("library.properties", f"{key} is missing")
    if fields["version"] != version or fields["category"] not in CATEGORIES:
        refuse("library.properties", f"version or category: {fields}")
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.\-]{0,62}", fields["name"]):
        refuse("library.properties", "not a name")
    for header in fields["includes"].split(","):
        if not (folder / "src" / header).exists():
            refuse("library.properties", f"src/{header} is missing, which includes names")
    manifest = json.loads((folder / "library.json").read_text(encoding="utf-8"))
    if manifest["name"] != fields["name"] or manifest["version"] != version:
        refuse("library.json", "name or version differs from library.properties")
    for example in manifest["examples"]:
        for name in example["files"]:
            if not (folder / example["base"] / name).exists():
                refuse("library.json", f"{example['base']}/{name} is missing")
    names = [file.name for file in (folder / "src/sources").iterdir()]
    if any(file.suffix in (".c", ".cc", ".cpp", ".S") for file in (folder / "src").rglob("*")
           if file.parent.name != "sources") or not all(name.endswith(".cpp") for name in names):
        refuse(folder, "Arduino would compile files twice: as sources and where they are included")


class Libraries:
    def __init__(self, source, highway, work, compilers):
        self.source, self.highway, self.work, (self.cc, self.cxx) = source, highway, work, compilers

    def make(self, kind):
        folder = self.work / kind
        run(sys.executable, self.source / "cmake/microcontroller.py", kind, self.source, self.highway, folder,
            "attention")
        return folder

    def compile(self, cxx, flags, folder, sources):
        """Objects, in a folder."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        words = "\0".join(map(str, sources))
        done = subprocess.run(["xargs", "-0", "-n", "8", "-P", "2", cxx, *flags, "-w", "-c"], cwd=folder,
                              input=words, text=True, capture_output=True, check=False)
        if done.returncode != 0:
            sys.exit(done.stdout + done.stderr)
        return sorted(folder.glob("*.o"))

    def expect(self, name, printed):
        if printed.strip() != SAMPLE:
            sys.exit(f"{name} prints {printed!r} instead of {SAMPLE}")
        print(f"{name}: compiled by this machine's compiler, the sample prints what it should")

    def run_with_standin(self, kind, library, sample, main):
        """The CMakeLists.txt of Zephyr or ESP-IDF, with substitutes for the functions that it calls."""
        folder = self.work / f"{kind}-standin"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        sources = [sample / "main.c", sample / "sample.c"]
        if main:  # ESP-IDF calls app_main
            (folder / "main.c").write_text(main, encoding="utf-8")
            sources.append(folder / "main.c")
        text = STANDIN.replace("LIBRARY", str(library)).replace("SOURCES", " ".join(map(str, sources)))
        (folder / "CMakeLists.txt").write_text(text, encoding="utf-8")
        run("cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja", f"-DCMAKE_C_COMPILER={self.cc}",
            f"-DCMAKE_CXX_COMPILER={self.cxx}", "-DCMAKE_BUILD_TYPE=MinSizeRel")
        run("cmake", "--build", folder / "build", "-j", "2")
        self.expect(kind, run(folder / "build/sample"))

    def run_arduino(self, folder):
        """Every source below src/, one include path, no options of the library, an archive (dot_a_linkage): as Arduino
        does."""
        objects = self.compile(self.cxx, [f"-I{folder / 'src'}", "-std=gnu++17", "-Os"], self.work / "arduino-objects",
                               sorted((folder / "src").rglob("*.cpp")))
        sketch = folder / "examples/Attention"
        main = self.work / "sketch.cpp"
        main.write_text(f'{SERIAL}#include "{sketch}/Attention.ino"\nint main() {{ setup(); }}\n', encoding="utf-8")
        sample = self.work / "sketch_sample.o"
        run(self.cc, f"-I{folder / 'src'}", "-c", sketch / "sample.c", "-o", sample)
        archive = self.work / "libfovea.a"
        archive.unlink(missing_ok=True)
        run("ar", "qcs", archive, *objects)
        run(self.cxx, "-std=gnu++17", f"-I{folder / 'src'}", f"-I{sketch}", main, sample, archive, "-lm", "-o",
            self.work / "sketch")
        self.expect("arduino", run(self.work / "sketch"))

    def bytes_of(self, machine, folder):
        """Code, constants and data that the sample takes of the library."""
        tools, flags, headers = MACHINES[machine]
        flags = flags.split()
        cpp = []
        if headers is not None:
            cpp = ["-nostdinc++"]
            for place in sorted(pathlib.Path(CPP_HEADERS).glob("*"))[-1:]:
                cpp += ["-isystem", place, "-isystem", place / "arm-none-eabi"]
            flags += ["-isystem", headers]
        source = folder / "src"
        objects = self.compile(f"{tools}g++", [*cpp, *flags, "-std=gnu++17", "-Os", "-ffunction-sections",
                                               "-fdata-sections", "-fno-exceptions", "-fno-rtti", f"-I{source}"],
                               self.work / f"{machine}-objects", sorted((source / "sources").glob("*.cpp")))
        program = self.work / f"{machine}.elf"
        run(f"{tools}gcc", *flags, "-std=gnu11", "-Os", f"-I{source}", "-nostdlib", "-static", "-e", "fovea_sample",
            "-Wl,--gc-sections", "-Wl,--unresolved-symbols=ignore-all", "-o", program,
            folder / "examples/Attention/sample.c", *objects)
        sizes = run(f"{tools}size", program).splitlines()[1].split()
        return int(sizes[0]) + int(sizes[1])


def main():
    source, highway, work = map(pathlib.Path, sys.argv[1:4])
    libraries = Libraries(source, highway, work, sys.argv[4:6])
    work.mkdir(parents=True, exist_ok=True)
    folders = {kind: libraries.make(kind) for kind in ("zephyr", "esp-idf", "arduino")}
    component = check_yaml(folders["esp-idf"] / "idf_component.yml", COMPONENT_SCHEMA)
    check_zephyr(folders["zephyr"])
    text = (source / "include/fovea/version.h").read_text(encoding="utf-8")
    version = ".".join(re.findall(r"define FOVEA_VERSION_[A-Z]+ (\d+)", text))
    check_arduino(folders["arduino"], version)
    if component is not None and component["version"] != version:
        refuse("idf_component.yml", f"version {component['version']}, and the library's is {version}")
    for kind, folder in folders.items():
        for file in folder.rglob("*"):
            if file.is_file() and file.suffix in (".yml", ".json", ".properties", ".txt") and \
                    re.search(r"@[A-Z]+@", file.read_text(encoding="utf-8")):
                refuse(file, "a placeholder is left")
        print(f"{kind}: manifests checked")
    if "--compile" not in sys.argv:
        return 0 if component is not None else 77

    libraries.run_arduino(folders["arduino"])
    libraries.run_with_standin("zephyr", folders["zephyr"] / "zephyr", folders["zephyr"] / "samples/attention/src", "")
    libraries.run_with_standin("esp-idf", folders["esp-idf"], folders["esp-idf"] / "examples/attention/main",
                               "void app_main(void);\nint main(void) { app_main(); return 0; }\n")
    now = {}
    for machine, (tools, _, headers) in MACHINES.items():
        if shutil.which(f"{tools}g++") is None or not pathlib.Path(headers or "/").exists():
            print(f"NOT TESTED: bytes of {machine}, for want of {tools}g++ (tools/setup.sh --cross)")
            continue
        now[machine] = libraries.bytes_of(machine, folders["arduino"])
    if len(now) < len(MACHINES):
        print(f"bytes: {now}")
        return 77
    return stated.check(now, sys.argv[sys.argv.index("--compile") + 1], 1.02, "bytes", "update_microcontroller_limits",
                        "--update" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
