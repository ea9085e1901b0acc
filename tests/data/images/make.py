#!/usr/bin/env python3
"""Writes the pictures of this folder with Pillow (9.4)."""
import math

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
