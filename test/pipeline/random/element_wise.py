"""Generators of element-wise ops, including broadcasts."""
import numpy as np

from model import BOOL, FLOAT, INT, MOST_ELEMENTS, ONNX_TYPES

#        op          bound of the result for a bound b
UNARY = {"Relu": lambda b: b, "Neg": lambda b: b, "Abs": lambda b: b, "Tanh": lambda b: 1, "Sigmoid": lambda b: 1,
         "Erf": lambda b: 1, "Sin": lambda b: 1, "Cos": lambda b: 1, "Softplus": lambda b: b + 1, "LeakyRelu": lambda b: b,
         "Elu": lambda b: b + 1, "Gelu": lambda b: b + 1, "HardSwish": lambda b: b, "Identity": lambda b: b,
         "Softsign": lambda b: 1, "Mish": lambda b: b + 1}
JUMPING = ["Floor", "Ceil", "Round", "Sign"]


def unary(m):
    kind = m.random.choice(list(UNARY))
    x = m.pick()
    m.op(kind, [x], x.shape, bound=UNARY[kind](x.bound))


def jumping(m):
    x = m.settled(m.pick())
    m.op(m.random.choice(JUMPING), [x], x.shape, bound=x.bound + 1)


def unary_int(m):
    x = m.pick(INT)
    m.op(m.random.choice(["Neg", "Abs", "Sign", "Identity"]), [x], x.shape)


def partner_shape(m, shape):
    """Returns a shape that broadcasts with `shape`: dims become 1, leading ones are added or removed."""
    partner = [n if m.random.random() < 0.75 else 1 for n in shape]
    partner = partner[m.random.choice([0, 0, 0, 1]):]
    if m.random.random() < 0.1 and len(shape) < 4 and 2 * np.prod(shape) <= MOST_ELEMENTS and len(partner) == len(shape):
        partner = [2] + partner
    return tuple(partner)


def partners(m, type=FLOAT, x=None):
    """Returns two values that broadcast, in any order, and the shape of both."""
    x = x or m.pick(type)

    def fits(v):
        try:
            return np.prod(np.broadcast_shapes(v.shape, x.shape), dtype=int) <= MOST_ELEMENTS and v is not x
        except ValueError:
            return False

    y = m.pick(type, fits, partner_shape(m, x.shape)) if m.random.random() < 0.5 else m.leaf(partner_shape(m, x.shape), type)
    pair = [x, y] if m.random.random() < 0.5 else [y, x]
    return pair, np.broadcast_shapes(x.shape, y.shape)


def binary(m):
    (a, b), shape = partners(m)
    kind, bound = m.random.choice([("Add", a.bound + b.bound), ("Sub", a.bound + b.bound), ("Mul", a.bound * b.bound),
                                   ("Max", max(a.bound, b.bound)), ("Min", max(a.bound, b.bound))])
    m.op(kind, [a, b], shape, bound=bound)


def binary_int(m):
    (a, b), shape = partners(m, INT)
    kind, bound = m.random.choice([("Add", a.bound + b.bound), ("Sub", a.bound + b.bound), ("Mul", a.bound * b.bound),
                                   ("Max", max(a.bound, b.bound)), ("Min", max(a.bound, b.bound))])
    m.op(kind, [a, b], shape, bound=bound)


def divide(m):
    (a, b), shape = partners(m)
    divisor = m.op("Add", [m.op("Abs", [b], b.shape), m.constant(0.5, FLOAT)], b.shape, bound=b.bound + 0.5)
    m.op("Div", [a, divisor], shape, bound=2 * a.bound)


def divide_int(m):
    (a, b), shape = partners(m, INT)
    divisor = m.op("Add", [m.op("Abs", [b], b.shape), m.constant(2)], b.shape, bound=b.bound + 2)
    m.op(m.random.choice(["Div", "Mod"]), [a, divisor], shape, bound=max(a.bound, b.bound + 2))


def rooted(m):
    x = m.pick()
    positive = m.op("Add", [m.op("Abs", [x], x.shape), m.constant(0.25, FLOAT)], x.shape, bound=x.bound + 0.25)
    m.op(m.random.choice(["Sqrt", "Log", "Reciprocal"]), [positive], x.shape, bound=max(4, positive.bound))


def power(m):
    x = m.pick()
    m.op("Pow", [x, m.constant(m.random.choice([2, 3]), FLOAT)], x.shape, bound=max(1, x.bound) ** 3)


def exponential(m):
    x = m.pick()
    m.op("Exp", [m.op("Clip", [x, m.constant(-2, FLOAT), m.constant(2, FLOAT)], x.shape, bound=2)], x.shape, bound=8)


def several(m):
    x = m.pick()
    others = [m.like(x.shape) for _ in range(m.random.randint(1, 2))]
    m.op(m.random.choice(["Sum", "Mean", "Max", "Min"]), [x, *others], x.shape, bound=x.bound + sum(o.bound for o in others))


def compare(m):
    type = m.random.choice([FLOAT, INT])
    (a, b), shape = partners(m, type, m.settled(m.pick(type)))
    # Noise in one of the operands prevents ties, unless both are the same value.
    m.op(m.random.choice(["Less", "Greater", "LessOrEqual", "GreaterOrEqual", "Equal"]), [m.settled(a), m.settled(b)], shape, BOOL)


def logic(m):
    (a, b), shape = partners(m, BOOL)
    m.op(m.random.choice(["And", "Or", "Xor"]), [a, b], shape, BOOL)


def negation(m):
    x = m.pick(BOOL)
    m.op("Not", [x], x.shape, BOOL)


def where(m):
    type = m.random.choice([FLOAT, FLOAT, INT])
    (a, b), shape = partners(m, type)
    condition = m.pick(BOOL, lambda v: v.rank <= len(shape) and all(
        n in (1, s) for n, s in zip(v.shape[::-1], shape[::-1])), partner_shape(m, shape)[-len(shape):] if shape else ())
    m.op("Where", [condition, a, b], np.broadcast_shapes(shape, condition.shape), type, bound=max(a.bound, b.bound))


def clip(m):
    x = m.pick(m.random.choice([FLOAT, INT]))
    m.op("Clip", [x, m.constant(-1, x.type), m.random.choice([m.constant(2, x.type), None])], x.shape,
         bound=max(2, x.bound))


def cast(m):
    x = m.pick(m.random.choice([FLOAT, INT, BOOL]))
    type = m.random.choice([t for t in (FLOAT, INT) if t != x.type])
    if type == INT:
        x = m.settled(x)
    m.op("Cast", [x], x.shape, type, bound=max(1, x.bound), to=ONNX_TYPES[type])


MAKERS = [unary, unary, unary, binary, binary, binary, binary, jumping, unary_int, binary_int, binary_int, divide, divide_int,
          rooted, power, exponential, several, compare, logic, negation, where, where, clip, cast]
