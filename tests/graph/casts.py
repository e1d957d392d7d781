"""Writes casts.tsv: the results of NumPy and ml_dtypes for every number of 8 bits, and for some of the wider ones, in each
dtype.

    python3 casts.py > casts.tsv

Each line: from, to, then the bits of each number and of its result, in hexadecimal. A NaN is the bits of any."""
import ml_dtypes
import numpy

DTYPES = {"f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "f32": numpy.float32, "e4m3": ml_dtypes.float8_e4m3fn,
          "e5m2": ml_dtypes.float8_e5m2, "int8": numpy.int8, "int32": numpy.int32}
BITS = {1: numpy.uint8, 2: numpy.uint16, 4: numpy.uint32}


def numbers(name):
    dtype = DTYPES[name]
    if numpy.dtype(dtype).itemsize == 1:
        return numpy.arange(256, dtype=numpy.uint8).view(dtype)
    if name == "int32":
        return numpy.array([0, 1, -1, 17, 127, 128, -128, -129, 255, 256, 448, 464, 465, 480, 57344, 61439, 61440, 61441,
                            65504, 65519, 65520, 16777215, 16777217, 16842753, 25231361, 2**31 - 1, -2**31], dtype)
    # Neighbours of the ends and middles of the narrower formats, and a walk through all magnitudes.
    points = [0.0, -0.0, 1, 1.5, 2.5, -2.5, 0.1, 448, 464, 465, 480, -464, -465, 57344, 61440, 65504, 65520, 65536, 127.5, 128,
              -128.5, -129, 300, 2.0**-6, 2.0**-9, 2.0**-10, 1.5 * 2.0**-9, 2.0**-14, 2.0**-16, 2.0**-17, 1.5 * 2.0**-16, 2.0**-24, 2.0**-25,
              1.5 * 2.0**-24, 1e-40, 3e38, 2147483520, -2147483648, numpy.inf, -numpy.inf, numpy.nan]
    with numpy.errstate(all="ignore"):
        near = numpy.array(points, numpy.float32).astype(dtype)
        bits = near.view(BITS[near.itemsize]).astype(numpy.int64)
        walk = (numpy.arange(97) * 0x9E3779B1 & 0xFFFFFFFF) >> (32 - 8 * near.itemsize)
        around = numpy.concatenate([bits, bits + 1, bits - 1, walk])
        return (around & (256 ** near.itemsize - 1)).astype(BITS[near.itemsize]).view(dtype)


def cast(x, name, to):
    """PyTorch's: integers by way of float32, what becomes int8 by way of int32."""
    if to.startswith("int"):
        return x.astype(numpy.int32).astype(DTYPES[to])
    return x.astype(numpy.float32).astype(DTYPES[to])


for name in DTYPES:
    for to in DTYPES:
        x = numbers(name)
        if to.startswith("int") and not name.startswith("int"):  # what C++ leaves open is no part of this
            wide = x.astype(numpy.float64)
            x = x[numpy.isfinite(wide) & (wide >= -2.0**31) & (wide < 2.0**31)]
        with numpy.errstate(all="ignore"):
            y = cast(x, name, to)
        pairs = zip(x.view(BITS[x.itemsize]), y.view(BITS[y.itemsize]))
        print(name, to, *(f"{a:x}:{b:x}" for a, b in pairs), sep="\t")
