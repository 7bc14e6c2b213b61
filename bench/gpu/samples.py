"""Reads some numbers of a .npy file without numpy, which a machine with a GPU need not have."""
import ast
import math
import struct

COUNT = 4000


def samples(path):
    """Returns the shape of a file of f32, and numbers at equal distances (an odd step)."""
    with open(path, "rb") as file:
        version = file.read(8)[6]
        length = struct.unpack("<H", file.read(2)) if version == 1 else struct.unpack("<I", file.read(4))
        header = ast.literal_eval(file.read(*length).decode("latin-1"))
        if header["descr"] != "<f4" or header["fortran_order"]:
            raise ValueError(f"{path} holds {header}")
        begin, count = file.tell(), math.prod(header["shape"])
        numbers = []
        for at in range(0, count, max(count // COUNT, 1) | 1):
            file.seek(begin + 4 * at)
            numbers += struct.unpack("<f", file.read(4))
    return dict(shape=list(header["shape"]), numbers=numbers)
