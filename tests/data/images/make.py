#!/usr/bin/env python3
"""Writes the pictures of this folder with Pillow (9.4)."""
import math
import subprocess

from PIL import Image, ImageOps


def pixel(x, y):
    """Smooth colours, edges and a little noise."""
    noise = (x * 7919 + y * 104729 + x * y * 31) % 41
    edge = 90 if (x // 5 + y // 7) % 2 else 0
    return (int(120 + 100 * math.sin(x / 5)) + noise // 3, (edge + 3 * x + 2 * y) % 256, (255 * ((x ^ y) & 4) // 4 + noise) % 256)


def picture(width, height):
    made = Image.new("RGB", (width, height))
    made.putdata([pixel(x, y) for y in range(height) for x in range(width)])
    return made


FILTERS = {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}

rgb = picture(37, 23)
rgb.save("rgb.png")
for name, number in FILTERS.items():
    for width, height in ((16, 16), (60, 17), (37, 41)):
        rgb.resize((width, height), number).save(f"rgb_{name}_{width}x{height}.png")

grey = rgb.convert("L")
grey.save("grey.png")
rgb.quantize(64).save("palette.png")
rgb.quantize(64).convert("RGB").save("palette_as_rgb.png")
alpha = rgb.copy()
alpha.putalpha(Image.new("L", rgb.size, 99))
alpha.save("alpha.png")
rgb.quantize(16).save("palette4.png", bits=4)
rgb.quantize(16).convert("RGB").save("palette4_as_rgb.png")
rgb.convert("L").point(lambda v: 255 * (v > 127)).convert("1").save("bits.png")
rgb.convert("L").point(lambda v: 255 * (v > 127)).convert("RGB").save("bits_as_rgb.png")
deep = Image.new("I;16", (37, 23))
for y in range(23):
    for x in range(37):
        deep.putpixel((x, y), (x * 1801 + y * 977) % 65536)
deep.save("grey16.png")

smooth = picture(37, 23).resize((74, 46), 3).resize((37, 23), 2)
smooth.save("smooth.png")
smooth.save("baseline.jpg", quality=95, subsampling=0)
smooth.save("halved.jpg", quality=90, subsampling=2)
smooth.save("progressive.jpg", quality=90, progressive=True)
smooth.convert("L").save("grey.jpg", quality=90)
smooth.convert("CMYK").save("cmyk.jpg", quality=95)
for name in ("baseline", "halved", "progressive", "grey", "cmyk"):
    Image.open(name + ".jpg").convert("RGB").save(name + "_as_rgb.png")
for orientation in range(1, 9):
    exif = Image.Exif()
    exif[0x0112] = orientation
    rgb.save(f"orientation_{orientation}.png", exif=exif)
    ImageOps.exif_transpose(Image.open(f"orientation_{orientation}.png")).save(f"orientation_{orientation}_upright.png")
exif = Image.Exif()
exif[0x0112] = 6
smooth.save("orientation_6.jpg", quality=95, subsampling=0, exif=exif)

# GIF: whole, interlaced and with transparent pixels; a first image smaller than the screen, with its own palette.
rgb.quantize(64).save("plain.gif", interlace=0)
rgb.quantize(64).save("interlaced.gif", interlace=1)
clear = rgb.quantize(32)
clear.save("transparent.gif", transparency=3)


def lzw(indices, bits):
    """GIF's compressed data with a clear code before every index: codes keep their size."""
    stream, count, out = 0, 0, bytearray()
    for code in [c for i in indices for c in (1 << bits, i)] + [(1 << bits) + 1]:
        stream |= code << count
        count += bits + 1
    for i in range(0, count, 8):
        out.append(stream >> i & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255]) for i in range(0, len(out), 255))
    return bytes([bits]) + blocks + b"\0"


def short(*numbers):
    return b"".join(n.to_bytes(2, "little") for n in numbers)


palettes = [bytes(v * 16 + i for v in range(8) for i in range(3)), bytes(255 - v * 9 - i for v in range(8) for i in range(3))]
for name, control in (("part", b""), ("part_transparent", b"\x21\xf9\x04\x01\0\0\x05\0")):
    with open(name + ".gif", "wb") as f:
        f.write(b"GIF89a" + short(9, 7) + bytes([0xf2, 2, 0]) + palettes[0] + b"\x21\xfe\x03abc\0" + control)
        f.write(b"," + short(2, 3, 5, 4) + bytes([0x82]) + palettes[1] + lzw([i % 8 for i in range(20)], 3))
        f.write(b"," + short(0, 0, 1, 1) + bytes([0]) + lzw([1], 3) + b";")
for name in ("transparent", "part", "part_transparent"):
    Image.open(name + ".gif").convert("RGB").save(name + "_gif_as_rgb.png")

# BMP.
rgb.save("colours.bmp")
rgb.convert("L").save("grey.bmp")
rgb.quantize(64).save("palette.bmp")
rgb.convert("1").save("bits.bmp")


def bitmap(name, bits, compression, data, height=23, extra=b"", palette=b"", header=40):
    long = lambda *numbers: b"".join((n & 0xffffffff).to_bytes(4, "little") for n in numbers)
    body = long(header, 37, height) + short(1, bits) + long(compression, 0, 2835, 2835, len(palette) // 4, 0) + extra + palette
    with open(name + ".bmp", "wb") as f:
        f.write(b"BM" + long(14 + len(body) + len(data), 0, 14 + len(body)) + body + data)


def rows(bits, pack):
    """Rows of whole words, the lowest one first."""
    made = b""
    for y in reversed(range(23)):
        row = b"".join(pack(rgb.getpixel((x, y))).to_bytes(bits // 8, "little") for x in range(37))
        made += row + bytes(-len(row) % 4)
    return made


masks = lambda *numbers: b"".join(n.to_bytes(4, "little") for n in numbers)
bitmap("fifteen", 16, 0, rows(16, lambda c: c[0] >> 3 << 10 | c[1] >> 3 << 5 | c[2] >> 3))
bitmap("sixteen", 16, 3, rows(16, lambda c: c[0] >> 3 << 11 | c[1] >> 2 << 5 | c[2] >> 3), extra=masks(0xf800, 0x7e0, 0x1f))
bitmap("masks", 32, 3, rows(32, lambda c: c[0] << 24 | c[1] << 16 | c[2] << 8), extra=masks(0xff000000, 0xff0000, 0xff00))
down = rows(32, lambda c: c[0] << 16 | c[1] << 8 | c[2] | 0x80000000)
bitmap("down", 32, 0, b"".join(down[i * 148:i * 148 + 148] for i in reversed(range(23))), height=-23)
sixteen = rgb.quantize(16)
table = b"".join(bytes(reversed(sixteen.getpalette()[3 * i:3 * i + 3])) + b"\0" for i in range(16))
runs = {8: b"", 4: b""}
for y in reversed(range(23)):
    row = [sixteen.getpixel((x, y)) for x in range(37)]
    for x in range(0, 36, 12):  # absolute runs of five, then single counts
        part = row[x:x + 12]
        runs[8] += bytes([0, 5] + part[:5] + [0]) + b"".join(bytes([1, p]) for p in part[5:])
        runs[4] += bytes([0, 5, part[0] << 4 | part[1], part[2] << 4 | part[3], part[4] << 4, 0])
        runs[4] += b"".join(bytes([2, part[i] << 4 | part[i + 1]]) for i in range(5, 11, 2)) + bytes([1, part[11] << 4])
    for bits in (4, 8):
        runs[bits] += bytes([1, row[36] << (4 if bits == 4 else 0), 0, 0 if y else 1])
bitmap("runs8", 8, 1, runs[8], palette=table)
bitmap("runs4", 4, 2, runs[4], palette=table)
for name in ("bits", "fifteen", "sixteen", "runs8"):
    Image.open(name + ".bmp").convert("RGB").save(name + "_bmp_as_rgb.png")

# WebP.
smooth.save("lossy.webp", quality=80)
rgb.save("lossless.webp", lossless=True)
veil = rgb.copy()
veil.putalpha(Image.new("L", rgb.size, 99))
veil.save("alpha.webp", lossless=True, exact=True)
soft = smooth.copy()
soft.putalpha(Image.linear_gradient("L").resize(rgb.size))
soft.save("lossy_alpha.webp", quality=80)
rgb.save("moving.webp", save_all=True, append_images=[smooth], duration=100, lossless=True)
exif = Image.Exif()
exif[0x0112] = 8
rgb.save("turned.webp", lossless=True, exif=exif)
# An animation whose first image is a part of its canvas.
rgb.crop((0, 0, 11, 7)).save("part.webp", lossless=True)
with open("part.webp", "rb") as f:
    image = f.read()[12:]
long3 = lambda *numbers: b"".join(n.to_bytes(3, "little") for n in numbers)
chunk = lambda name, data: name + len(data).to_bytes(4, "little") + data + bytes(len(data) % 2)
chunks = chunk(b"VP8X", b"\2\0\0\0" + long3(19, 14)) + chunk(b"ANIM", b"\x99\x99\x99\xff\0\0")
chunks += chunk(b"ANMF", long3(2, 3, 10, 6, 100) + b"\0" + image) * 2
with open("part.webp", "wb") as f:
    f.write(b"RIFF" + (len(chunks) + 4).to_bytes(4, "little") + b"WEBP" + chunks)
for name in ("lossy", "lossy_alpha", "part"):
    ImageOps.exif_transpose(Image.open(name + ".webp")).convert("RGB").save(name + "_webp_as_rgb.png")

# JPEG with arithmetic coding, which only libjpeg's program makes from Pillow's files; the coefficients are the same.
for name, options in (("arithmetic", []), ("arithmetic_progressive", ["-progressive"])):
    subprocess.run(["jpegtran", "-arithmetic", *options, "-outfile", name + ".jpg", "halved.jpg"], check=True)
with open("cmyk.jpg", "rb") as f:
    inks = f.read()
adobe = inks.index(b"\xff\xee")
with open("unmarked.jpg", "wb") as f:
    f.write(inks[:adobe] + inks[adobe + 2 + int.from_bytes(inks[adobe + 2:adobe + 4], "big"):])
