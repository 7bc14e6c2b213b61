"""Generators of ops that read and write by index."""
import numpy as np

from model import FLOAT, INT


def indices(m, shape, size):
    """Returns integers within [0, size): an input, or computed from existing values."""
    if m.random.random() < 0.6:
        return m.weight(shape, INT, size)
    x = m.like(shape, INT)
    x = m.op("Mod", [m.op("Abs", [x], x.shape), m.constant(size)], x.shape, bound=max(1, size - 1))
    return x


def table(m):
    return m.of_rank(1, 4, type=m.random.choice([FLOAT, FLOAT, INT]))


def gather(m):
    x = table(m)
    dim, axis = m.axis(x)
    shape = m.random.choice([(), (2,), (3,), (5,), (2, 3), (4, 2)])
    ids = indices(m, shape, x.shape[dim])
    result = x.shape[:dim] + shape + x.shape[dim + 1:]
    m.op("Gather", [x, ids], result, x.type, bound=x.bound, axis=axis)


def gather_elements(m):
    x = table(m)
    dim, axis = m.axis(x)
    shape = tuple(m.random.choice([1, 2, 3, 5]) if d == dim else n for d, n in enumerate(x.shape))
    m.op("GatherElements", [x, indices(m, shape, x.shape[dim])], shape, x.type, bound=x.bound, axis=axis)


def gather_nd(m):
    x = m.of_rank(2, 3)
    depth = m.random.randint(1, 2)
    ids = np.stack([m.numbers.integers(0, n, (3, 2)) for n in x.shape[:depth]], -1)
    m.op("GatherND", [x, m.given(ids, INT, max(x.shape))], (3, 2) + x.shape[depth:], x.type, bound=x.bound)


def scatter_elements(m):
    """Adds a scatter. Each row is written at distinct places, unless updates are added."""
    x = m.of_rank(1, 3, type=m.random.choice([FLOAT, INT]))
    dim, axis = m.axis(x)
    kind = m.random.choice(["none", "none", "add", "max"])
    count = m.random.randint(1, x.shape[dim])
    shape = tuple(count if d == dim else n for d, n in enumerate(x.shape))
    rows = m.numbers.permuted(np.broadcast_to(np.arange(x.shape[dim]), x.shape[:dim] + x.shape[dim + 1:] + x.shape[dim:dim + 1]),
                              axis=-1)[..., :count]
    if kind != "none":
        rows = m.numbers.integers(0, x.shape[dim], rows.shape)
    updates = m.like(shape, x.type)
    ids = m.given(np.ascontiguousarray(np.moveaxis(rows, -1, dim)), INT, x.shape[dim])
    m.op("ScatterElements", [x, ids, updates], x.shape, bound=x.bound + count * updates.bound, sums=kind == "add", axis=axis,
         **({} if kind == "none" else {"reduction": kind}))


def scatter_nd(m):
    """Adds a scatter of slices or elements, at distinct places unless updates are added."""
    x = m.of_rank(1, 3, type=m.random.choice([FLOAT, INT]))
    depth = m.random.randint(1, x.rank)
    kind = m.random.choice(["none", "add", "add", "max"])
    places = np.stack(np.unravel_index(np.arange(int(np.prod(x.shape[:depth]))), x.shape[:depth]), -1)
    count = m.random.randint(1, len(places))
    ids = m.numbers.permutation(places)[:count] if kind == "none" else m.numbers.choice(places, count)
    updates = m.like((count, *x.shape[depth:]), x.type)
    m.op("ScatterND", [x, m.given(ids, INT, max(x.shape)), updates], x.shape, bound=x.bound + count * updates.bound, sums=kind == "add",
         **({} if kind == "none" else {"reduction": kind}))


def one_hot(m):
    depth = m.random.choice([2, 3, 4, 6])
    ids = indices(m, m.shape(m.random.randint(1, 2)), depth)
    axis = m.random.randint(0, ids.rank)
    values = m.constant([0, 1], m.random.choice([FLOAT, INT]))
    type = FLOAT if m.weights[-1].data_type == 1 else INT
    m.op("OneHot", [ids, m.constant(depth), values], ids.shape[:axis] + (depth,) + ids.shape[axis:], type, bound=1, axis=axis)


MAKERS = [gather, gather, gather, gather_elements, gather_elements, gather_nd, scatter_elements, scatter_nd, one_hot, one_hot]
