"""Writes the recipes by which other build systems fetch and build the release archive."""
PLACES = {  # template: file below the folder of the archive
    "vcpkg/portfile.cmake.in": "vcpkg/fovea/portfile.cmake",
    "vcpkg/vcpkg.json.in": "vcpkg/fovea/vcpkg.json",
    "vcpkg/usage": "vcpkg/fovea/usage",
    "conan/conanfile.py": "conan/conanfile.py",
    "conan/conandata.yml.in": "conan/conandata.yml",
    "fovea.wrap.in": "meson/fovea.wrap",
}


def write(packaging, output, version, url, sha256, sha512):
    values = {"VERSION": version, "URL": url, "FILE": url.rsplit("/", 1)[-1], "SHA256": sha256, "SHA512": sha512}
    for template, place in PLACES.items():
        text = (packaging / template).read_text(encoding="utf-8")
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        file = output / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
