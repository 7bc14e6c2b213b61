"""Generators of ops that move elements of any type."""
import numpy as np

from model import BOOL, FLOAT, HIGHEST_RANK, INT, MOST_ELEMENTS


def any_type(m):
    return m.random.choice([FLOAT, FLOAT, FLOAT, INT, BOOL])


def transpose(m):
    x = m.of_rank(2, type=any_type(m))
    perm = m.random.sample(range(x.rank), x.rank)
    m.op("Transpose", [x], [x.shape[p] for p in perm], perm=perm)


def divisors(n):
    return [d for d in range(2, n) if n % d == 0]


def reshape(m):
    """Adds a reshape that merges neighbouring dims, splits dims, or both."""
    x = m.of_rank(1, type=any_type(m))
    shape = list(x.shape)
    for _ in range(m.random.randint(1, 3)):
        d = m.random.randrange(len(shape))
        if m.random.random() < 0.5 and d + 1 < len(shape):
            shape[d:d + 2] = [shape[d] * shape[d + 1]]
        elif len(shape) < HIGHEST_RANK and divisors(shape[d]):
            part = m.random.choice(divisors(shape[d]))
            shape[d:d + 1] = [part, shape[d] // part]
    written = list(shape)
    if m.random.random() < 0.3:
        written[m.random.randrange(len(shape))] = -1
    m.op("Reshape", [x, m.constant(written)], shape)


def flatten(m):
    x = m.of_rank(1, type=any_type(m))
    axis = m.random.randint(0, x.rank)
    m.op("Flatten", [x], (np.prod(x.shape[:axis], dtype=int), np.prod(x.shape[axis:], dtype=int)), axis=axis)


def unsqueeze(m):
    x = m.pick(any_type(m), lambda v: v.rank < HIGHEST_RANK)
    axis = m.random.randint(0, x.rank)
    m.op("Unsqueeze", [x, m.constant([axis])], x.shape[:axis] + (1,) + x.shape[axis:])


def squeeze(m):
    x = m.of_rank(1, fits=lambda v: 1 in v.shape)
    axis = x.shape.index(1)
    m.op("Squeeze", [x, m.constant([axis])], x.shape[:axis] + x.shape[axis + 1:])


def concat(m):
    x = m.of_rank(1, type=any_type(m))
    dim, axis = m.axis(x)
    parts = [x]
    for _ in range(m.random.randint(1, 2)):
        size = m.random.choice([1, 2, 3, x.shape[dim]])
        parts.append(m.like(x.shape[:dim] + (size,) + x.shape[dim + 1:], x.type))
    m.random.shuffle(parts)
    size = sum(p.shape[dim] for p in parts)
    m.op("Concat", parts, x.shape[:dim] + (size,) + x.shape[dim + 1:], bound=max(p.bound for p in parts), axis=axis)


def split(m):
    x = m.of_rank(1, type=any_type(m), fits=lambda v: max(v.shape, default=1) > 1)
    dim = m.random.choice([d for d in range(x.rank) if x.shape[d] > 1])
    parts = m.random.choice([p for p in (2, 3) if p <= x.shape[dim]])
    sizes = [x.shape[dim] // parts] * parts
    sizes[-1] += x.shape[dim] - sum(sizes)
    m.op_of_many("Split", [x, m.constant(sizes)], [(x.shape[:dim] + (n,) + x.shape[dim + 1:], None) for n in sizes], axis=dim)


def slice_(m):
    x = m.of_rank(1, type=any_type(m))
    dims = m.random.sample(range(x.rank), m.random.randint(1, min(2, x.rank)))
    starts, ends, steps, shape = [], [], [], list(x.shape)
    for d in dims:
        n = x.shape[d]
        start, step = m.random.randrange(n), m.random.choice([1, 1, 1, 2, 3, -1])
        end = m.random.randint(start + 1, n) if step > 0 else m.random.choice([-n - 1, m.random.randint(0, start) - 1 - n])
        starts, ends, steps = starts + [start], ends + [end], steps + [step]
        shape[d] = len(range(n)[slice(start, end if end >= -n else None, step)])
    if 0 not in shape:
        m.op("Slice", [x, m.constant(starts), m.constant(ends), m.constant(dims), m.constant(steps)], shape)


def pad(m):
    x = m.of_rank(1, type=m.random.choice([FLOAT, FLOAT, INT]))
    low = [m.random.choice([0, 0, 1, 2]) for _ in x.shape]
    high = [m.random.choice([0, 0, 1, 2]) for _ in x.shape]
    shape = [a + n + b for a, n, b in zip(low, x.shape, high)]
    if np.prod(shape) > 2 * MOST_ELEMENTS:
        return
    mode = m.random.choice(["constant", "constant", "edge", "reflect"])
    if mode == "reflect" and any(max(a, b) >= n for a, n, b in zip(low, x.shape, high)):
        mode = "edge"
    value = [m.constant(m.random.choice([0, 1]), x.type)] if mode == "constant" else []
    m.op("Pad", [x, m.constant(low + high), *value], shape, bound=max(1, x.bound), mode=mode)


def expand(m):
    x = m.pick(any_type(m), lambda v: v.rank < HIGHEST_RANK)
    shape = [m.random.choice([2, 3, 4]) if n == 1 and m.random.random() < 0.7 else n for n in x.shape]
    if m.random.random() < 0.5:
        shape = [m.random.choice([2, 3])] + shape
    if np.prod(shape, dtype=int) <= MOST_ELEMENTS:
        m.op("Expand", [x, m.constant(shape)], shape)


def tile(m):
    x = m.of_rank(1, type=any_type(m))
    repeats = [m.random.choice([1, 1, 2, 3]) for _ in x.shape]
    shape = [r * n for r, n in zip(repeats, x.shape)]
    if np.prod(shape) <= MOST_ELEMENTS:
        m.op("Tile", [x, m.constant(repeats)], shape)


def trilu(m):
    x = m.of_rank(2, type=m.random.choice([FLOAT, INT]))
    m.op("Trilu", [x, m.constant(m.random.choice([-1, 0, 1]))], x.shape, upper=m.random.randint(0, 1))


def rotate_half(m):
    """Adds [x1 | x2] -> [-x2 | x1], as in rotary embeddings."""
    x = m.of_rank(2, fits=lambda v: v.shape[-1] % 2 == 0)
    half = x.shape[-1] // 2
    shape = x.shape[:-1] + (half,)
    first = m.op("Slice", [x, m.constant([0]), m.constant([half]), m.constant([-1])], shape)
    second = m.op("Slice", [x, m.constant([half]), m.constant([2 * half]), m.constant([-1])], shape)
    m.op("Concat", [m.op("Neg", [second], shape), first], x.shape, axis=-1)


MAKERS = [transpose, transpose, reshape, reshape, reshape, flatten, unsqueeze, squeeze, concat, concat, split, split, slice_,
          slice_, pad, pad, expand, tile, trilu, rotate_half]
