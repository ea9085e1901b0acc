"""Makes a library of a microcontroller ecosystem of the source bundle (bundle.py).

  microcontroller.py KIND SOURCE_DIR HIGHWAY_DIR OUTPUT_DIR [--url URL] [PROFILE...]

KIND: zephyr, a module; esp-idf, a component; arduino, a library for PlatformIO and for Arduino. Templates are in
ports/microcontroller/. The folder is removed first.
"""
import argparse
import json
import pathlib
import re
import shutil

import bundle

# For Arduino, which passes no options: vectors only where a compiler is sure to have them.
CONFIGURATION = """\
#if !defined(HWY_COMPILE_ONLY_STATIC) && !defined(HWY_COMPILE_ONLY_SCALAR)
#if defined(__aarch64__) || defined(__x86_64__)
#define HWY_COMPILE_ONLY_STATIC
#else
#define HWY_COMPILE_ONLY_SCALAR
#endif
#endif
#if defined(__OPTIMIZE_SIZE__) && !defined(FOVEA_SMALL)
#define FOVEA_SMALL
#endif
"""
# Sources that a wrapper includes: Arduino compiles every file with the name of a source.
INCLUDED = re.compile(r'("runtime/[^"]+)\.cc"')
SAMPLES = {"zephyr": "samples/attention/src", "esp-idf": "examples/attention/main", "arduino": "examples/Attention"}


def version_of(source):
    text = (source / "include/fovea/version.h").read_text(encoding="utf-8")
    return ".".join(re.findall(r"define FOVEA_VERSION_[A-Z]+ (\d+)", text))


def fill(output, values):
    """Replaces @NAME@ in the manifests."""
    for name in ("zephyr/CMakeLists.txt", "CMakeLists.txt", "idf_component.yml", "library.properties", "library.json"):
        file = output / name
        if file.exists():
            text = file.read_text(encoding="utf-8")
            for key, value in values.items():
                text = text.replace(f"@{key}@", value)
            file.write_text(text, encoding="utf-8")


def arrange_for_arduino(output):
    """Everything below src/, the one include path; files that wrappers include get another name."""
    source = output / "src"
    for folder in ("runtime", "hwy"):
        (output / folder).rename(source / folder)
    (output / "include/fovea").rename(source / "fovea")
    (output / "include").rmdir()
    if (output / "fovea_profile.h").exists():
        (output / "fovea_profile.h").rename(source / "fovea_profile.h")
    for file in [*source.rglob("*.cc")]:
        file.rename(file.with_suffix(".cc.inc"))
    for file in [*source.rglob("*")]:
        if file.is_file():
            text = file.read_text(encoding="utf-8")
            renamed = INCLUDED.sub(r'\1.cc.inc"', text)
            if renamed != text:
                file.write_text(renamed, encoding="utf-8")
    (source / "sources").mkdir()
    for file in (output / "sources").glob("*.cc"):
        text = INCLUDED.sub(r'\1.cc.inc"', file.read_text(encoding="utf-8"))
        (source / "sources" / f"{file.stem}.cpp").write_text(CONFIGURATION + text, encoding="utf-8")
    shutil.rmtree(output / "sources")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("kind", choices=sorted(SAMPLES))
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("highway", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--url", default="", help="the library's page, which Arduino's library manager requires")
    parser.add_argument("profiles", nargs="*")
    given = parser.parse_args()
    print(bundle.make(given.source, given.highway, given.output, given.profiles))
    templates = given.source / "ports/microcontroller"
    shutil.copytree(templates / given.kind, given.output, dirs_exist_ok=True)
    for name in ("sample.c", "sample.h"):
        shutil.copyfile(templates / name, given.output / SAMPLES[given.kind] / name)
    flags = bundle.FLAGS if given.kind != "arduino" else json.dumps(["-std=gnu++17", *bundle.FLAGS.split()])
    fill(given.output, {"VERSION": version_of(given.source), "FLAGS": flags, "URL": given.url})
    if given.kind == "arduino":
        arrange_for_arduino(given.output)
    (given.output / "README.md").unlink()
    shutil.copyfile(templates / f"{given.kind}.md", given.output / "README.md")
    print(f"{given.output}: a library for {given.kind}, see its README.md")


if __name__ == "__main__":
    main()
