"""Checks who includes whom, which outside headers are used where, that profiles are asked for operations that exist,
and that no file grows too long.

  layering.py SOURCE_DIR
"""
import pathlib
import re
import sys

# A file may include its own folder and those further down; folders in one line may not include each other.
LAYERS = [
    ["runtime/api"],
    ["runtime/generate", "runtime/result"],
    ["runtime/session"],
    ["runtime/plan"],
    ["runtime/model"],
    ["runtime/ops"],
    ["runtime/attention", "runtime/gemm", "runtime/text"],
    ["runtime/blob"],
    ["runtime/kernels"],
    ["runtime/parallel"],
    ["runtime/base"],
]
RANK = {folder: rank for rank, folders in enumerate(LAYERS) for folder in folders}

# The same for the tools. Folders of subcommands do not include each other.
TOOL_LAYERS = [
    ["tools/commands"],
    ["tools/attend", "tools/bench", "tools/check", "tools/convert", "tools/eval", "tools/inspect", "tools/run",
     "tools/transcribe"],
    ["tools/vectors"],
    ["tools/generate", "tools/measure", "tools/prediction"],
    ["tools/media", "tools/tensors", "tools/text"],
    ["tools/model"],
    ["tools/torch"],
    ["tools/blob", "tools/gguf", "tools/image", "tools/safetensors", "tools/sound"],
    ["tools/base"],
]
TOOL_RANK = {folder: rank for rank, folders in enumerate(TOOL_LAYERS) for folder in folders}

# The numbers of the format and the lists they are made of: no code, so every folder may include them.
NUMBERS = re.compile(r"runtime/blob/((record_)?numbers\.h|op_codes\.h|attributes\.h|(op_|attribute_)?names\.h|"
                     r"included\.h|\w+_list\.inc)")

# Tools may include the public headers, the blob's formats and the lists of members, but nothing that runs a model
# (tools/README.md gives the reasons).
TOOLS_MAY_INCLUDE = ["runtime/blob", "runtime/ops", "runtime/text", "runtime/base"]

# Headers that need no heap and no operating system, and so may be used by the runtime.
SYSTEM_HEADERS = set("""
    float.h limits.h math.h stdarg.h stdbool.h stddef.h stdint.h string.h
    algorithm array atomic initializer_list limits new type_traits utility
    """.split())

# Headers that public ones may include.
C_HEADERS = {"stddef.h", "stdint.h"}
CPP_HEADERS = {"cstddef", "cstdint", "new", "span", "string_view", "type_traits", "utility"}

# Compiler headers for instructions that Highway does not cover.
PROCESSOR_HEADERS = {"runtime/base/arm_extensions.h": {"sys/auxv.h", "sys/sysctl.h"},  # not in firmware
                     "runtime/kernels/dot_arm-inl.h": {"arm_neon.h"},
                     "runtime/kernels/gemm_avx512-inl.h": {"immintrin.h"},
                     "runtime/kernels/gemm_dots-inl.h": {"arm_acle.h", "arm_mve.h"},
                     "runtime/kernels/riscv/hwy/ops/emu128-inl.h": {"riscv_vector.h"}}

MAX_LINES = 600
CODE = {".h", ".hpp", ".cc", ".c", ".inc", ".py", ".sh", ".cmake"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]', re.MULTILINE)


# Operations that code looks up in a profile by name (runtime/base/profile.h), and the list that must contain them.
ASKED = re.compile(r'Includes\("operation", "(\w+)"\)')
OPERATION = re.compile(r"^FOVEA_OP\(\d+, (\w+),", re.MULTILINE)


def folder_of(path):
    return "/".join(path.split("/")[:2])


def errors_of(path, text):
    lines = text.count("\n")
    if lines > MAX_LINES:
        yield f"{lines} lines, more than {MAX_LINES}"
    for quote, header in INCLUDE.findall(text):
        xnnpack = header.startswith("xnnpack") or header in ("pthreadpool.h", "cpuinfo.h", "fxdiv.h")
        if xnnpack and "xnnpack" not in path:
            yield f"includes {header}: only files with xnnpack in their name may"
        if path.startswith("include/"):
            allowed = CPP_HEADERS if path.endswith(".hpp") else C_HEADERS
            if not (header.startswith("fovea/") and (path.endswith(".hpp") or header.endswith(".h"))
                    or header in allowed):
                yield f"includes {header}: public headers include only each other, {', '.join(sorted(allowed))}"
        elif path.startswith("runtime/"):
            if header.startswith(("tools/", "tests/")):
                yield f"includes {header}"
            elif header.startswith("runtime/"):
                mine, target = folder_of(path), folder_of(header)
                if target not in RANK or mine not in RANK:
                    yield f"includes {header}: the folder has no layer"
                elif mine != target and RANK[target] <= RANK[mine] and not NUMBERS.fullmatch(header):
                    yield f"includes {header}: {target} is not below {mine}"
            elif (quote == "<" and not xnnpack and "xnnpack" not in path and header not in SYSTEM_HEADERS
                  and header not in PROCESSOR_HEADERS.get(path, ())):
                yield f"includes <{header}>: not a header that firmware has"
        elif path.startswith("tools/"):
            mine, target = folder_of(path), folder_of(header)
            if header.startswith("tests/"):
                yield f"includes {header}"
            elif header.startswith("tools/") and "/" in path.removeprefix("tools/") and mine != target:
                if mine not in TOOL_RANK or target not in TOOL_RANK:
                    yield f"includes {header}: the folder has no layer"
                elif TOOL_RANK[target] <= TOOL_RANK[mine]:
                    yield f"includes {header}: {target} is not below {mine}"
            elif (header.startswith("runtime/") and not header.endswith("_list.inc")
                  and folder_of(header) not in TOOLS_MAY_INCLUDE):
                yield f"includes {header}: tools may include of runtime/ only {', '.join(TOOLS_MAY_INCLUDE)}"


def main():
    root = pathlib.Path(sys.argv[1])
    operations = set(OPERATION.findall((root / "runtime/blob/op_list.inc").read_text(encoding="utf-8")))
    files = [p for top in ("include", "runtime", "tools", "tests", "ports", "cmake")
             for p in sorted((root / top).rglob("*")) if p.suffix in CODE and p.is_file()]
    failures = 0
    for file in files:
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        unknown = [f"no operation is called {name}" for name in ASKED.findall(text) if name not in operations]
        for error in [*errors_of(path, text), *unknown]:
            print(f"{path}: {error}")
            failures += 1
    print(f"{len(files)} files checked, {failures} errors")
    return failures != 0 or not files


if __name__ == "__main__":
    sys.exit(main())
