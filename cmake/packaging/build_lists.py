"""Builds of the release archive by Meson and Bazel: lists of its sources, and the options of each list.

The library is compiled without XNNPACK, with kernels for several processors, one of which is chosen at run time.
"""
# Kernels keep arrays of vectors in registers, which compilers refuse for vectors of unknown length (cmake/flags.cmake).
NEVER = ("SSSE3", "NEON", "SVE", "SVE2", "SVE_256", "SVE2_128", "RVV")
PRODUCTS = ("AVX3_DL", "AVX3_ZEN4", "AVX3_SPR", "NEON_BF16")
# Sources that are compiled for more targets than the rest.
TARGETS = {"attention_kernels": PRODUCTS, "gemm_kernels": ("AVX3_DL",), "rest": (), "dispatch": ()}

DEFINES = ("FOVEA_BUILDING", "HWY_STATIC_DEFINE", "HWY_WANT_AVX3_DL")
OPTIONS = ("-fno-threadsafe-statics", "-fno-exceptions", "-fno-rtti", "-ffunction-sections", "-fdata-sections",
           "-ffp-contract=off", "-fno-math-errno", "-fno-fast-math", "-fno-unsafe-math-optimizations",
           "-fno-associative-math", "-fno-reciprocal-math", "-fno-finite-math-only", "-fsigned-zeros",
           "-fno-rounding-math")
X86_OPTIONS = ("-msse2", "-mfpmath=sse")


def group_of(place):
    if place.startswith("runtime/kernels/attention"):
        return "attention_kernels"
    return "gemm_kernels" if place in ("runtime/kernels/gemm.cc", "runtime/api/status.cc") else "rest"


def disabled(group):
    names = [f"HWY_{name}" for name in (*NEVER, *PRODUCTS) if name not in TARGETS[group]]
    return f"HWY_DISABLED_TARGETS=({'|'.join(names)})"


def sources_of(places):
    """Names of lists -> sorted sources and headers."""
    lists = {group: [] for group in TARGETS}
    own = [place for place in places if place.startswith("runtime/") and "xnnpack" not in place]
    for place in own:
        if place.endswith(".cc"):
            lists[group_of(place)].append(place)
    lists["dispatch"] = [f"third_party/highway/hwy/{name}" for name in ("per_target.cc", "targets.cc")]
    lists["headers"] = [place for place in own if place.endswith((".h", ".inc"))] + ["cmake/highway_quiet.h"]
    lists["headers"] += [place for place in places if place.startswith("third_party/highway/hwy/")
                         and place.endswith(".h")]
    lists["interface"] = [place for place in places if place.startswith("include/fovea/")]
    return {name: sorted(entries) for name, entries in lists.items()}


def quoted(entries, indent):
    return "".join(f"\n{' ' * indent}'{entry}'," for entry in entries)


def meson(template, lists, version):
    text = template.replace("@VERSION@", version)
    for name, entries in lists.items():
        text = text.replace(f"@{name}@", quoted(entries, 2))
    for group in TARGETS:
        text = text.replace(f"@{group}_targets@", f"'-D{disabled(group)}'")
    text = text.replace("@defines@", quoted((f"-D{name}" for name in DEFINES), 2))
    return text.replace("@options@", quoted(OPTIONS, 2)).replace("@x86_options@", quoted(X86_OPTIONS, 4))


def bazel(template, lists):
    text = template
    for name, entries in lists.items():
        text = text.replace(f"@{name}@", quoted(entries, 8).replace("'", '"'))
    for group in TARGETS:
        text = text.replace(f"@{group}_targets@", f'"{disabled(group)}"')
    text = text.replace("@defines@", quoted(DEFINES, 4).replace("'", '"'))
    text = text.replace("@options@", quoted(OPTIONS, 4).replace("'", '"'))
    return text.replace("@x86_options@", ", ".join(f'"{option}"' for option in X86_OPTIONS))


def written(packaging, places, version):
    """Files for the top of the archive, which has the files `places`."""
    lists = sources_of(places)
    return {
        "meson.build": meson((packaging / "meson.build.in").read_text(encoding="utf-8"), lists, version),
        "meson_options.txt": (packaging / "meson_options.txt").read_text(encoding="utf-8"),
        "BUILD.bazel": bazel((packaging / "BUILD.bazel.in").read_text(encoding="utf-8"), lists),
        "MODULE.bazel": (packaging / "MODULE.bazel.in").read_text(encoding="utf-8").replace("@VERSION@", version),
    }
