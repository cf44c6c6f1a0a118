#!/usr/bin/env python3
"""Forged proofs for both verifiers: none may be accepted.

    python3 peers/forge.py statement proof COUNT [--seed N] [--write FOLDER]

Every forgery states what is false: a bound between the honest incumbent and a worse point that it names instead, or that no point is feasible. Around that the honest proof stands as it was or altered:
nodes closed (with and without what follows them), dropped, doubled, exchanged, grafted; evidence dropped, vectors and sweeps changed; cells of a split swapped; claims about constraints exchanged for stronger
ones; multipliers of problems over models changed. One in ten is honest but for one of its seals: digest, checksum, length, incumbent. Exit code 1 when the second verifier accepts one; with --write the files are there for the first.
"""

import copy
import math
import pathlib
import random
import struct
import sys
import time

from verify import INF, Refused, Statement, Verifier, fnv, read_certificate


def write_claims(claims):
    out = struct.pack("<I", len(claims))
    for kind, *content in claims:
        out += bytes([kind])
        if kind == 1:
            out += struct.pack("<H", content[0])
        elif kind == 2:
            out += struct.pack("<H", len(content[0])) + b"".join(struct.pack("<Hf", *pair) for pair in content[0])
        elif kind > 2:
            out += struct.pack("<Hd", *content)
    return out


def write(digest, bound, incumbent, nodes, multipliers):
    out = [b"LEAFGPC4" if multipliers is None else b"LEAFGPC5", struct.pack("<Qd", digest, bound)]
    if incumbent is None:
        out.append(b"\xff" * 4)
    else:
        out.append(struct.pack(f"<Id{len(incumbent[1])}d", len(incumbent[1]), incumbent[0], *incumbent[1]))
    if multipliers is not None:
        out.append(struct.pack("<H", len(multipliers)) + b"".join(struct.pack("<Hd", *pair) for pair in multipliers))
    out.append(struct.pack("<Q", len(nodes)))
    for evidence, end in nodes:
        out.append(struct.pack("<H", len(evidence)))
        for kind, *content in evidence:
            out.append(bytes([kind]))
            if kind:
                out.append(write_claims(content[0]))
            else:
                sweeps, size, counts = content
                out.append(struct.pack(f"<BIf{len(counts)}h", sweeps, len(counts), size, *counts))
        out.append(bytes([end[0]]))
        if end[0] == 1:
            out.append(struct.pack("<I", len(end[1])) + b"".join(map(write_claims, end[1])))
        elif end[0] == 2:
            out.append(struct.pack(f"<II{len(end[2])}Q", end[1], len(end[2]), *end[2]))
    body = b"".join(out)
    return body + struct.pack("<Q", fnv(body))


def random_point(statement, rng):
    """An allowed point; None when a few tries find none."""
    for _ in range(100):
        x = []
        for domain in statement.domains[: statement.n]:
            if domain[0] == "list":
                x.append(rng.choice(domain[1]))
            elif domain[0] == "levels":
                x.append(float(rng.randrange(domain[1])))
            else:
                x.append(rng.uniform(domain[1], domain[2]) if domain[0] == "real" else float(rng.randint(int(domain[1]), int(domain[2]))))
        if statement.allows(x):
            return x
    return None


def subtree(nodes, at):
    """Behind the last node below node `at`."""
    open_ = 1
    while open_ and at < len(nodes):
        open_ += 1 if nodes[at][1][0] == 2 else -1
        at += 1
    return at


def stronger(claims, rng):
    """Claims about a box that leave less open."""
    row = lambda: (rng.randrange(6), rng.choice([1.0, -1.0, 1e30, math.nan, math.inf, rng.gauss(0, 10)]))
    kinds = [
        [(1, rng.randrange(6))],
        [(2, [row() for _ in range(rng.randrange(4))])],
        [(3, rng.randrange(4), rng.choice([math.nan, 0.0, 0.5, 1e300])), (1, 0), (1, 0)],
        [],
    ]
    if claims and rng.random() < 0.6:
        claims = copy.deepcopy(claims)
        k = rng.randrange(len(claims))
        claims[k : k + 1] = rng.choice(kinds)
        return claims
    return rng.choice(kinds)


def altered(nodes, rng):
    nodes = list(nodes)
    k = rng.randrange(len(nodes)) if nodes else 0
    way = rng.randrange(12)
    evidence, end = copy.deepcopy(nodes[k])
    if way == 0:
        nodes[k:subtree(nodes, k)] = [(evidence, (0,))]
    elif way == 1:
        nodes[k] = (evidence, (0,))
    elif way == 2:
        nodes[k] = ([e for e in evidence if rng.random() < 0.5], end)
    elif way == 3:
        nodes[k] = ([(0, rng.randrange(30), *e[2:]) if e[0] == 0 else e for e in evidence], end)
    elif way == 4:
        scale = rng.choice([0.0, -1.0, 0.5, 2.0, 1e30, math.nan, math.inf])
        wide = lambda count: max(-32768, min(32767, count + rng.randrange(-3, 4)))
        nodes[k] = ([(0, e[1], e[2] * scale if rng.random() < 0.5 and abs(e[2]) < 1 else e[2], [wide(c) for c in e[3]]) if e[0] == 0 else e for e in evidence], end)
    elif way == 5 and end[0] == 2:
        words = [w ^ (1 << rng.randrange(64)) if rng.random() < 0.7 else rng.getrandbits(64) for w in end[2]]
        nodes[k] = (evidence, (2, rng.choice([end[1], rng.randrange(12)]), words))
    elif way == 6:
        del nodes[k]
    elif way == 7:
        nodes.insert(k, nodes[k])
    elif way == 8:
        j = rng.randrange(len(nodes))
        nodes[k], nodes[j] = nodes[j], nodes[k]
    elif way == 9:
        contracted = [(1, stronger(e[1], rng)) if e[0] == 1 else e for e in evidence] + ([(1, stronger([], rng))] if rng.random() < 0.5 else [])
        nodes[k] = (contracted, (1, [stronger(c, rng) for c in end[1]]) if end[0] == 1 else end)
    elif way == 10:
        nodes[k:subtree(nodes, k)] = [(evidence, (1, []))]
    else:
        j = rng.randrange(len(nodes))
        nodes[k:subtree(nodes, k)] = nodes[j:subtree(nodes, j)]
    return nodes


def other_multipliers(multipliers, rng):
    """Other multiples of rows, some of them such as no row has."""
    if multipliers is None or rng.random() < 0.5:
        return multipliers
    factor = rng.choice([0.0, 0.5, 0.999, 1.001, 2.0, -1.0, 1e30, math.nan, math.inf])
    changed = [(row if rng.random() < 0.8 else rng.randrange(12), m * factor) for row, m in multipliers]
    return changed + [(rng.randrange(12), rng.gauss(0, 1))] * rng.randrange(2)


def broken_seal(digest, bound, incumbent, nodes, multipliers, rng):
    honest = write(digest, bound, incumbent, nodes, multipliers)
    way = rng.randrange(6)
    if way == 0:
        return write(digest ^ 1 << rng.randrange(64), bound, incumbent, nodes, multipliers)
    if way == 1:
        at = rng.randrange(len(honest))
        return honest[:at] + bytes([honest[at] ^ 1 << rng.randrange(8)]) + honest[at + 1 :]
    if way == 2:
        return honest[: rng.randrange(len(honest))]
    if way == 3:
        return write(digest, math.nan, incumbent, nodes, multipliers)
    # Over predictions the objective is known within roundings only.
    if way == 4 and incumbent and multipliers is None:
        return write(digest, bound, (math.nextafter(incumbent[0], rng.choice([-INF, INF])), incumbent[1]), nodes, multipliers)
    body = honest[:-8] + rng.randbytes(rng.randrange(1, 9))
    return body + struct.pack("<Q", fnv(body))


def forgeries(statement, certificate, count, rng):
    digest, bound, incumbent, nodes, multipliers = certificate
    worse = []
    for _ in range(12):
        x = random_point(statement, rng)
        if x and statement.sums is not None:
            value = statement.objective_range(x)[0]
        else:
            value = x and statement.objective(statement.leaves(x))
        if x and incumbent and value > incumbent[0]:
            worse.append((value, x))
    for _ in range(count):
        if rng.random() < 0.1:
            yield broken_seal(digest, bound, incumbent, nodes, multipliers, rng)
            continue
        if worse and rng.random() < 0.8:
            other = rng.choice(worse)
            share = rng.choice([1.0, rng.random(), 1e-2, 1e-4])
            claimed, other = min(other[0], incumbent[0] + max(share * (other[0] - incumbent[0]), 1e-9)), other
        elif incumbent:
            claimed, other = INF, None
        else:
            # Honest is that no point is feasible: the proof of it is damaged below.
            claimed, other = INF, None
        forged = nodes
        for _ in range(rng.choice([0, 1, 1, 2, 3]) if incumbent else 0):
            forged = altered(forged, rng) if forged else forged
        if not incumbent:
            forged = []
        yield write(digest, claimed, other, forged, other_multipliers(multipliers, rng))


def main(arguments):
    seed, folder = 0, None
    for name in ("--seed", "--write"):
        if name in arguments:
            at = arguments.index(name)
            seed, folder = (int(arguments[at + 1]), folder) if name == "--seed" else (seed, pathlib.Path(arguments[at + 1]))
            del arguments[at : at + 2]
    with open(arguments[0], "rb") as file:
        data = file.read()
    with open(arguments[1], "rb") as file:
        certificate = read_certificate(file.read())
    statement, digest = Statement(data), fnv(data)
    verifier = Verifier(statement)
    verifier.verify(certificate)
    reasons, n = {}, 0
    for n, forged in enumerate(forgeries(statement, certificate, int(arguments[2]), random.Random(seed)), 1):
        if folder:
            (folder / f"{n}.proof").write_bytes(forged)
        verifier.deadline = time.monotonic() + 60.0
        try:
            read = read_certificate(forged)
            if read[0] != digest:
                raise Refused("the certificate belongs to another problem")
            verifier.verify(read)
        except Refused as refused:
            reason = str(refused).split(": ")[-1].split(",")[0][:48]
            reasons[reason] = reasons.get(reason, 0) + 1
            continue
        print(f"forgery {n} of seed {seed} was accepted", file=sys.stderr)
        return 1
    print(f"{n} forged proofs, all refused")
    for reason, times in sorted(reasons.items(), key=lambda pair: -pair[1]):
        print(f"{times:7} {reason}")
    return 0


if __name__ == "__main__":
    sys.setrecursionlimit(100_000)
    sys.exit(main(sys.argv[1:]))
