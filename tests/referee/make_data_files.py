#!/usr/bin/env python3
"""Writes tests/golden/io: small files as NumPy, Pillow and Python's own modules write them, and expected.txt, what they
read from them. The output is the same on every run.

The expected arrays are in the format of README.md, one case a file: what numpy.load and Pillow give back.
"""

import gzip
import struct
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

OUT = Path(__file__).resolve().parents[1] / "golden" / "io"
NAMES = {"?": "bool", "b": "i8", "B": "u8", "i": "i32", "l": "i64", "e": "f16", "f": "f32", "d": "f64"}
cases = []


def expect(name: str, array: np.ndarray) -> None:
    array = np.asarray(array)
    values = " ".join(str(int(v)) if array.dtype.kind in "b" else str(v) for v in array.ravel(order="C").tolist())
    dims = " ".join(str(n) for n in array.shape)
    kind = NAMES[array.dtype.newbyteorder("=").char]
    cases.append(f"case {name}\nop read\nout {kind} {dims} : {values}\nend\n".replace("  ", " "))


def npy(name: str, array: np.ndarray) -> None:
    np.save(OUT / f"{name}.npy", array)
    expect(name, np.load(OUT / f"{name}.npy"))


def write_npy() -> None:
    rng = np.random.default_rng(1)
    table = rng.standard_normal((3, 4)).astype(np.float32)
    npy("float32", table)
    npy("float32_big", table.astype(">f4"))
    npy("float32_fortran", np.asfortranarray(table))
    npy("float64_fortran3", np.asfortranarray(rng.standard_normal((2, 3, 4))))
    npy("float64", rng.standard_normal(5))
    npy("float16", rng.standard_normal((2, 2)).astype(np.float16))
    npy("int64_scalar", np.array(-7, dtype=np.int64))
    npy("int32_big", np.array([1, -2, 2**31 - 1], dtype=">i4"))
    npy("int64", np.array([[1, -2], [2**62, -(2**63)]], dtype=np.int64))
    npy("uint8", np.arange(6, dtype=np.uint8).reshape(2, 3))
    npy("int8", np.array([-128, 127], dtype=np.int8))
    npy("bool", np.array([True, False, True]))
    npy("empty", np.zeros((0, 3), dtype=np.float32))
    with open(OUT / "version2.npy", "wb") as out:
        np.lib.format.write_array(out, table, version=(2, 0))
    expect("version2", np.load(OUT / "version2.npy"))
    np.save(OUT / "int16.npy", np.array([1, 2], dtype=np.int16))  # an element type that flowgraph does not have
    np.save(OUT / "record.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))


def write_npz() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((4, 3)).astype(np.float32), np.array([3, 1, 2, 0], dtype=np.int64)
    for name, save in (("stored", np.savez), ("deflated", np.savez_compressed)):
        save(OUT / f"{name}.npz", x=x, y=y)
        loaded = np.load(OUT / f"{name}.npz")
        expect(f"{name}_x", loaded["x"])
        expect(f"{name}_y", loaded["y"])
    with zipfile.ZipFile(OUT / "bzip2.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr(zipfile.ZipInfo("x.npy"), (OUT / "uint8.npy").read_bytes(), zipfile.ZIP_BZIP2)


def write_idx() -> None:
    """As Yann LeCun's page describes the format; Python's struct does the bytes."""
    rng = np.random.default_rng(3)
    codes = {"u1": 0x08, "i1": 0x09, "i2": 0x0B, "i4": 0x0C, "f4": 0x0D, "f8": 0x0E}
    arrays = {
        "images": rng.integers(0, 256, (3, 4, 2)).astype("u1"),
        "labels": np.array([7, 2, 9], dtype="u1"),
        "i1": np.array([-1, 5], dtype="i1"),
        "i2": np.array([-1, 5], dtype="i2"),
        "i4": np.array([[2**31 - 1, -5]], dtype="i4"),
        "f4": rng.standard_normal((2, 3)).astype("f4"),
        "f8": rng.standard_normal(3),
    }
    for name, array in arrays.items():
        code = codes[array.dtype.str[1:]]
        header = struct.pack(">HBB", 0, code, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
        content = header + array.astype(array.dtype.newbyteorder(">")).tobytes()
        (OUT / f"{name}.idx").write_bytes(content)
        if name != "i2":
            expect(f"idx_{name}", array)
        if name == "images":
            (OUT / "images.idx.gz").write_bytes(gzip.compress(content, mtime=0))


def write_images() -> None:
    rng = np.random.default_rng(4)
    smooth = np.add.outer(np.arange(9) * 20, np.arange(7) * 9)[..., None] + np.array([0, 30, 60])
    colour = np.clip(smooth, 0, 255).astype(np.uint8)
    noise = rng.integers(0, 256, (5, 6, 4)).astype(np.uint8)

    def png(name: str, image: Image.Image, modes: dict[str, str]) -> None:
        image.save(OUT / f"{name}.png")
        loaded = Image.open(OUT / f"{name}.png")
        for suffix, mode in modes.items():
            array = np.asarray(loaded.convert(mode))
            expect(f"{name}_{suffix}", array.reshape(*array.shape[:2], -1))

    png("rgb", Image.fromarray(noise[..., :3]), {"3": "RGB", "1": "L", "4": "RGBA"})
    png("rgba", Image.fromarray(noise), {"4": "RGBA", "3": "RGB"})
    png("gray", Image.fromarray(noise[..., 0]), {"1": "L", "3": "RGB"})
    png("gray_alpha", Image.fromarray(noise[..., :2], "LA"), {"2": "LA", "1": "L"})
    png("palette", Image.fromarray(colour).quantize(5), {"3": "RGB"})
    png("bits", Image.fromarray(noise[..., 0] > 100), {"1": "L"})
    # 16 bits a channel: Pillow keeps them, and 8 of them are the same number rounded.
    deep = rng.integers(0, 65536, (3, 4)).astype(np.uint16)
    Image.fromarray(deep).save(OUT / "deep.png")
    loaded = np.asarray(Image.open(OUT / "deep.png")).astype(np.int64)
    expect("deep_1", np.round(loaded / 257).astype(np.uint8)[..., None])

    for name, image in (("colour", Image.fromarray(colour)), ("shade", Image.fromarray(colour[..., 0]))):
        for progressive in (False, True):
            file = f"{name}_progressive.jpg" if progressive else f"{name}.jpg"
            image.save(OUT / file, quality=90, progressive=progressive)
            array = np.asarray(Image.open(OUT / file))
            expect(Path(file).stem, array.reshape(*array.shape[:2], -1))
    Image.fromarray(colour).convert("CMYK").save(OUT / "cmyk.jpg")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    write_npy()
    write_npz()
    write_idx()
    write_images()
    text = "# Made by tests/referee/make_data_files.py with NumPy and Pillow; do not edit.\n\n"
    (OUT / "expected.txt").write_text(text + "\n".join(cases))
