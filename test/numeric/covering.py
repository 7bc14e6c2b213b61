"""Covering arrays: rows of choices in which every pair of levels of two factors occurs in at least one row."""
import itertools

ATTEMPTS = 200


def _allowed(row, constraints):
    """Returns whether `row`, which may lack factors, violates no constraint whose factors it has all chosen."""
    return all(test(*(row[n] for n in names)) for names, test in constraints if all(n in row for n in names))


def _fill(row, factors, constraints, missing, random):
    """Chooses the other factors of `row` so that each covers the most pairs of `missing`, or at random if `missing` is empty.
    Returns None at a dead end."""
    row = dict(row)
    rest = [f for f in factors if f not in row]
    random.shuffle(rest)
    for factor in rest:
        possible = [level for level in factors[factor] if _allowed({**row, factor: level}, constraints)]
        if not possible:
            return None
        gain = lambda level: sum(frozenset([(factor, level), other]) in missing for other in row.items())
        row[factor] = max(possible, key=lambda level: (gain(level), random.random()))
    return row


def pairs_of(row):
    return {frozenset(pair) for pair in itertools.combinations(row.items(), 2)}


def array(factors, constraints, random):
    """Returns rows, a level by factor. They cover all pairs of levels that `constraints` allow. `factors` has the levels by name;
    `constraints` are pairs of a tuple of names and a predicate on their levels."""
    order = [frozenset([(f, a), (g, b)]) for f, g in itertools.combinations(factors, 2) for a in factors[f] for b in factors[g]]
    random.shuffle(order)
    missing, rows = set(order), []
    for pair in order:
        if pair not in missing:
            continue
        start = dict(pair)
        # The greedy choice may lead to a dead end each time. Later attempts are random.
        aims = [missing] * (ATTEMPTS // 4) + [set()] * ATTEMPTS if _allowed(start, constraints) else []
        filled = (_fill(start, factors, constraints, aim, random) for aim in aims)
        row = next((r for r in filled if r), None)
        missing -= pairs_of(row) if row else {pair}
        rows += [{f: row[f] for f in factors}] if row else []
    return rows
