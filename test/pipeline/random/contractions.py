"""Generators of products: matmul, gemm, einsum, attention."""
import numpy as np

from model import MOST_ELEMENTS

EQUATIONS = ["ij,jk->ik", "ij,kj->ki", "bij,bjk->bik", "bij,jk->bik", "bsh,hnd->bnsd", "bnqd,bnkd->bnqk", "ij,ij->i", "ij,ij->",
             "i,j->ij", "bi,bi->b", "td,edh->eth", "te,etd->td", "ijk->kj", "ij->j", "bij,bij->bj", "ijk,jk->ji", "ij,jk,kl->il"]


def bounded(shape):
    return np.prod(shape, dtype=int) <= MOST_ELEMENTS


def matmul(m):
    a = m.of_rank(2, 4)
    batch, k = a.shape[:-2], a.shape[-1]
    others = [v for v in m.values if v.type == a.type and v.rank >= 2 and v.shape[-2] == k and v.shape[:-2] in (batch, ()) and
              bounded(a.shape[:-1] + v.shape[-1:])]
    columns = m.random.choice([1, 2, 3, 4, 6, 8])
    batches = [(), batch, tuple(1 for _ in batch)]
    b = m.random.choice(others) if others and m.random.random() < 0.4 else m.leaf(m.random.choice(batches) + (k, columns))
    if bounded(a.shape[:-1] + b.shape[-1:]):
        m.op("MatMul", [a, b], a.shape[:-1] + b.shape[-1:], bound=k * a.bound * b.bound, sums=True)


def vector_product(m):
    a = m.of_rank(1, 3)
    m.op("MatMul", [a, m.leaf((a.shape[-1],))], a.shape[:-1], bound=a.shape[-1] * a.bound, sums=True)


def gemm(m):
    a = m.of_rank(2, 2)
    trans_a, trans_b = m.random.randint(0, 1), m.random.randint(0, 1)
    rows, k = a.shape[::-1] if trans_a else a.shape
    columns = m.random.choice([2, 3, 4, 6, 8, 12])
    b = m.like((columns, k) if trans_b else (k, columns))
    c = m.random.choice([None, m.leaf((columns,)), m.leaf((1, columns)), m.leaf((rows, 1)), m.leaf((rows, columns)), m.leaf(())])
    m.op("Gemm", [a, b] + ([c] if c else []), (rows, columns), bound=k * a.bound * b.bound + 2, sums=True, transA=trans_a,
         transB=trans_b, alpha=m.random.choice([1.0, 0.5]), beta=m.random.choice([1.0, 2.0]))


def einsum(m):
    equation = m.random.choice(EQUATIONS)
    inputs, output = equation.split("->")
    inputs = inputs.split(",")
    first = m.of_rank(len(inputs[0]), len(inputs[0]))
    sizes = dict(zip(inputs[0], first.shape))
    for letter in "".join(inputs):
        sizes.setdefault(letter, m.random.choice([1, 2, 3, 4, 6]))
    shapes = [tuple(sizes[c] for c in operand) for operand in inputs]
    result = tuple(sizes[c] for c in output)
    if not all(map(bounded, [*shapes, result])):
        return
    operands = [first] + [m.like(s) for s in shapes[1:]]
    summed = np.prod([n for c, n in sizes.items() if c not in output], dtype=int)
    m.op("Einsum", operands, result, bound=summed * np.prod([o.bound for o in operands]), sums=True, equation=equation)


def attention(m):
    """Adds heads of queries, keys and values, as exporters write them."""
    batch, seq, heads, size = (m.random.choice(n) for n in ([1, 2, 3], [2, 3, 4], [2, 3, 4], [2, 3]))
    x = m.like((batch, seq, heads * size))

    def split(x):
        y = m.op("MatMul", [x, m.weight((heads * size, heads * size))], x.shape, bound=heads * size * x.bound, sums=True)
        y = m.op("Reshape", [y, m.constant([batch, seq, heads, size])], (batch, seq, heads, size))
        return m.op("Transpose", [y], (batch, heads, seq, size), perm=[0, 2, 1, 3])

    q, k, v = split(x), split(x), split(x)
    k = m.op("Transpose", [k], (batch, heads, size, seq), perm=[0, 1, 3, 2])
    scores = m.op("MatMul", [q, k], (batch, heads, seq, seq), bound=size * q.bound * k.bound, sums=True)
    if m.random.random() < 0.5:
        scores = m.op("Add", [scores, m.leaf((seq, seq))], scores.shape, bound=scores.bound + 1)
    chance = m.op("Softmax", [scores], scores.shape, bound=1, sums=True, axis=-1)
    y = m.op("MatMul", [chance, v], v.shape, bound=v.bound, sums=True)
    y = m.op("Transpose", [y], (batch, seq, heads, size), perm=[0, 2, 1, 3])
    y = m.op("Reshape", [y, m.constant([batch, seq, -1])], (batch, seq, heads * size))
    m.op("MatMul", [y, m.weight((heads * size, 4))], (batch, seq, 4), bound=heads * size * y.bound, sums=True)


MAKERS = [matmul, matmul, matmul, vector_product, gemm, gemm, einsum, einsum, attention]
