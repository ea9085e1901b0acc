"""What Android's loader reads of a shared library, and what it would refuse."""
import struct

ABIS = {"armeabi-v7a": (1, 40), "arm64-v8a": (2, 183), "x86": (1, 3), "x86_64": (2, 62), "riscv64": (2, 243)}
SYSTEM = {"libc.so", "libm.so", "libdl.so", "liblog.so"}
PAGE = 16384  # on devices with 64 bits
_LOAD, _DYNAMIC, _TLS = 1, 2, 7
_NEEDED, _STRTAB, _SYMTAB, _SONAME, _TEXTREL, _FLAGS, _VERNEED = 1, 5, 6, 14, 22, 30, 0x6ffffffe


class Library:
    """`needed`, `soname`, `undefined`, `exported`, `segments` (offset, address, bytes in the file, alignment)."""

    def __init__(self, data):
        if data[:4] != b"\x7fELF" or data[5] != 1:
            raise ValueError("not a little-endian ELF file")
        self._data, self.bits = data, data[4]
        wide = self.bits == 2
        self.kind, self.machine = struct.unpack_from("<HH", data, 16)
        first, = struct.unpack_from("<Q" if wide else "<I", data, 32 if wide else 28)
        size, count = struct.unpack_from("<HH", data, 54 if wide else 42)
        self.segments, self.has_tls, dynamic = [], False, None
        for i in range(count):
            at = first + i * size
            if wide:
                kind, _, offset, address, _, bytes_, _, align = struct.unpack_from("<IIQQQQQQ", data, at)
            else:
                kind, offset, address, _, bytes_, _, _, align = struct.unpack_from("<IIIIIIII", data, at)
            if kind == _LOAD:
                self.segments.append((offset, address, bytes_, align))
            self.has_tls |= kind == _TLS
            if kind == _DYNAMIC:
                dynamic = offset, bytes_
        if dynamic is None:
            raise ValueError("no dynamic section")
        self._read(*dynamic)

    def _place(self, address):
        for offset, begin, size, _ in self.segments:
            if begin <= address < begin + size:
                return address - begin + offset
        raise ValueError(f"address {address:#x} is in no segment")

    def _name(self, offset):
        begin = self._strings + offset
        return self._data[begin:self._data.index(0, begin)].decode()

    def _read(self, offset, size):
        step = 16 if self.bits == 2 else 8
        entries = [struct.unpack_from("<QQ" if self.bits == 2 else "<II", self._data, offset + i)
                   for i in range(0, size, step)]
        tags = dict(entries)
        self._strings = self._place(tags[_STRTAB])
        self.needed = [self._name(value) for tag, value in entries if tag == _NEEDED]
        self.soname = self._name(tags[_SONAME]) if _SONAME in tags else None
        self.has_text_relocations = _TEXTREL in tags or bool(tags.get(_FLAGS, 0) & 4)
        self.has_versions = _VERNEED in tags
        self.undefined, self.exported = [], []
        at, end = self._place(tags[_SYMTAB]), self._strings  # every linker puts the strings behind the symbols
        form, step = ("<IBBHQQ", 24) if self.bits == 2 else ("<IIIBBH", 16)
        while at + step <= end:
            fields = struct.unpack_from(form, self._data, at)
            name, (info, section) = fields[0], (fields[1], fields[3]) if self.bits == 2 else (fields[3], fields[5])
            if name and info >> 4:
                (self.exported if section else self.undefined).append(self._name(name))
            at += step


def visible(data, prefix):
    """A 64-bit object file whose global names with this prefix are not hidden any more: a library may export them."""
    sections, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(count)]
    made = bytearray(data)
    for head in heads:
        if head[1] != 2:  # SHT_SYMTAB
            continue
        strings = heads[head[6]][4]
        for at in range(head[4], head[4] + head[5], 24):
            name, info, other, section = struct.unpack_from("<IBBH", data, at)
            if info >> 4 == 1 and section and data.startswith(prefix, strings + name):
                made[at + 5] = other & ~3
    return bytes(made)


def faults(data, abi, name, inside):
    """Why Android would not load this library, or not everywhere. `inside`: other libraries of the package."""
    try:
        library = Library(data)
    except (ValueError, KeyError, IndexError, struct.error) as error:
        return [f"damaged: {error}"]
    found = []
    if (library.bits, library.machine) != ABIS[abi] or library.kind != 3:
        found.append(f"not a shared library for {abi}")
    if library.soname != name:
        found.append(f"its SONAME is {library.soname}")
    if library.has_tls:
        found.append("it has thread-local storage")
    if library.has_text_relocations:
        found.append("it has text relocations")
    if library.has_versions:
        found.append("it asks for versions of symbols, as of another system's libc")
    foreign = set(library.needed) - SYSTEM - set(inside)
    if foreign:
        found.append(f"it needs {', '.join(sorted(foreign))}")
    if library.bits == 2 and any(align < PAGE or (offset - address) % PAGE
                                 for offset, address, _, align in library.segments):
        found.append(f"its segments are not aligned to pages of {PAGE} bytes")
    return found
