#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Independent checker of the filter optimizer: shares no code with it.

usage: check.py BATCH [--inputs N] [--made N] [--published] [FILTER ...]

BATCH is the test program that runs the library. For each seccomp filter (the given ones, those
that --made generates here, those that --published finds below $BPFLOUPE_SECCOMP_DIR, by default
../shared/seccomp beside the source tree) it checks of the optimizer's result:

 - the kernel's rules for classic programs hold;
 - no instruction is unreachable, no ja leads to a ja;
 - no load fetches a word that A already holds along a chain of single predecessors;
 - before and after agree on N inputs, which reach every way out of every instruction of both that
   any input can reach. Inputs come from solving the conditions along paths, exactly: what is
   reported as out of reach is proven to be;
 - the library's evaluator agrees with the one here on all of them.
"""

import os
import random
import struct
import subprocess
import sys
import tempfile

LD_ABS, LD_IMM, RET_K, RET_A, JA = 0x20, 0x00, 0x06, 0x16, 0x05
AND_K = 0x54
JEQ, JGT, JGE, JSET = 0x15, 0x25, 0x35, 0x45
CONDS = {JEQ, JGT, JGE, JSET}
KNOWN = {LD_ABS, LD_IMM, RET_K, RET_A, JA, AND_K} | CONDS
ALL = 0xFFFFFFFF
SKIPPED = 77


class Bad(Exception):
    """A property that does not hold."""


def read_ddd(path):
    with open(path, encoding="ascii") as f:
        rows = [tuple(map(int, line.split())) for line in f if line.strip()]
    if rows[0][0] != len(rows) - 1:
        raise Bad(f"{path}: wrong count")
    return rows[1:]


def write_ddd(path, prog):
    with open(path, "w", encoding="ascii") as f:
        f.write(f"{len(prog)}\n")
        for insn in prog:
            f.write("%d %d %d %d\n" % insn)


def ways(prog, i):
    """Indices that instruction i leads to: (true, false) for a condition, else one or none."""
    code, jt, jf, k = prog[i]
    if code in CONDS:
        return (i + 1 + jt, i + 1 + jf)
    if code in (RET_K, RET_A):
        return ()
    return (i + 1 + k,) if code == JA else (i + 1,)


def check_rules(prog):
    if not 1 <= len(prog) <= 4096:
        raise Bad(f"{len(prog)} instructions")
    for i, (code, jt, jf, k) in enumerate(prog):
        if code not in KNOWN:
            raise Bad(f"{i}: opcode {code:#x} is not one of this checker's")
        if code == LD_ABS and (k % 4 or k >= 64):
            raise Bad(f"{i}: loads at {k}")
        if any(to >= len(prog) for to in ways(prog, i)):
            raise Bad(f"{i}: leads outside")
        if not (0 <= jt < 256 and 0 <= jf < 256 and 0 <= k <= ALL):
            raise Bad(f"{i}: a field is out of range")
    if prog[-1][0] not in (RET_K, RET_A):
        raise Bad("the last instruction is no return")


def predecessors(prog):
    preds = [[] for _ in prog]
    for i in range(len(prog)):
        for to in ways(prog, i):
            preds[to].append(i)
    return preds


def check_structure(prog):
    preds = predecessors(prog)
    reached = [False] * len(prog)
    reached[0] = True
    for i, (code, _, _, _) in enumerate(prog):
        if not reached[i]:
            raise Bad(f"{i} is unreachable")
        for to in ways(prog, i):
            reached[to] = True
        if code == JA and prog[ways(prog, i)[0]][0] == JA:
            raise Bad(f"{i}: ja leads to ja")
        if code == LD_ABS:
            check_load(prog, preds, i)


def check_load(prog, preds, load):
    """Walks back while there is one predecessor; finds the last write of A."""
    i = load
    while len(preds[i]) == 1:
        i = preds[i][0]
        code, _, _, k = prog[i]
        if code == LD_ABS and k == prog[load][3]:
            raise Bad(f"{load} loads word {k // 4}, which A holds since {i}")
        if code in (LD_ABS, LD_IMM, AND_K):
            return


def run(prog, words):
    """The evaluator: result, executed instructions, and the ways taken as (index, target)."""
    a = i = steps = 0
    taken = []
    while True:
        code, jt, jf, k = prog[i]
        steps += 1
        if code == RET_K:
            return k, steps, taken
        if code == RET_A:
            return a, steps, taken
        here = i
        i += 1
        if code == LD_ABS:
            a = words[k >> 2]
        elif code == JEQ:
            i += jt if a == k else jf
        elif code == JGE:
            i += jt if a >= k else jf
        elif code == JGT:
            i += jt if a > k else jf
        elif code == JSET:
            i += jt if a & k else jf
        elif code == JA:
            i += k
        elif code == AND_K:
            a &= k
        else:
            a = k
        taken.append((here, i))


# Conditions on one 32-bit word: (mask, operator, constant, wanted): (word & mask) operator constant.

def solve(conditions, rng):
    """A random word that satisfies all conditions, None if there is none. Exact: decides the bits
    from the top, keeping for each condition how the masked prefix compares with the constant's."""
    conditions = list(dict.fromkeys(conditions))
    layers = [{(0,) * len(conditions): None}]
    for bit in range(31, -1, -1):
        layer = {}
        for state in layers[-1]:
            for value in (0, 1):
                after = []
                for (mask, op, k, _), compared in zip(conditions, state):
                    mine, theirs = value & mask >> bit & 1, k >> bit & 1
                    if op == JSET:
                        compared |= mine & theirs
                    elif compared == 0:
                        compared = (mine > theirs) - (mine < theirs)
                    after.append(compared)
                layer.setdefault(tuple(after), []).append((state, value))
        layers.append(layer)
    good = [state for state in layers[-1] if all(holds(c, s) for c, s in zip(conditions, state))]
    if not good:
        return None
    state, word = rng.choice(good), 0
    for bit, layer in enumerate(reversed(layers[1:])):
        state, value = rng.choice(layer[state])
        word |= value << bit
    return word


def holds(condition, compared):
    _, op, _, wanted = condition
    value = {JEQ: compared == 0, JGT: compared > 0, JGE: compared >= 0, JSET: bool(compared)}[op]
    return value == wanted


class Solver:
    """Finds paths to ways of a program."""

    def __init__(self, prog, rng):
        self.prog, self.rng = prog, rng
        self.preds = predecessors(prog)
        self.known = {}

    def feasible(self, conditions):
        if conditions not in self.known:
            self.known[conditions] = solve(sorted(conditions), self.rng) is not None
        return self.known[conditions]

    def towards(self, index):
        """Instructions from which index can be reached in the graph."""
        seen, stack = {index}, [index]
        while stack:
            for p in self.preds[stack.pop()]:
                if p not in seen:
                    seen.add(p)
                    stack.append(p)
        return seen

    def path_to(self, index, side):
        """Conditions by word under which instruction index is executed and leaves by its side
        (a number for a condition, None for whatever else); None when no input does that."""
        wanted = self.towards(index)
        dead = set()
        # An entry: instruction, what A is ((word, mask) or a constant), conditions by word.
        stack = [(0, 0, ())]
        while stack:
            i, a, path = stack.pop()
            if (i, a, path) in dead or i not in wanted:
                continue
            dead.add((i, a, path))
            code, _, _, k = self.prog[i]
            if i == index and side is None:
                return path
            if code == LD_ABS:
                a = (k >> 2, ALL)
            elif code == LD_IMM:
                a = k
            elif code == AND_K:
                a = a & k if isinstance(a, int) else (a[0], a[1] & k)
            if code not in CONDS:
                stack.extend((to, a, path) for to in ways(self.prog, i))
                continue
            order = [0, 1]
            self.rng.shuffle(order)
            for way in order:
                if i == index and way != side:
                    continue
                more = self.assume(path, a, code, k, way == 0)
                if more is None:
                    continue
                if i == index:
                    return more
                stack.append((ways(self.prog, i)[way], a, more))
        return None

    def assume(self, path, a, op, k, wanted):
        """The path's conditions with one more, None if they contradict each other."""
        if isinstance(a, int):
            real = {JEQ: a == k, JGT: a > k, JGE: a >= k, JSET: bool(a & k)}[op]
            return path if real == wanted else None
        by_word = dict(path)
        word, mask = a
        conditions = by_word.get(word, frozenset()) | {(mask, op, k, wanted)}
        if not self.feasible(conditions):
            return None
        by_word[word] = conditions
        return tuple(sorted(by_word.items(), key=lambda item: item[0]))

    def input_for(self, path, pool):
        """Words on the path; those that it leaves open come from the pool."""
        words = [self.rng.choice(pool) for _ in range(16)]
        for word, conditions in path:
            words[word] = solve(sorted(conditions), self.rng)
        return tuple(words)


def all_ways(prog):
    """What inputs should cover: (index, target) of every way out, (index, None) of returns."""
    for i, (code, _, _, _) in enumerate(prog):
        if code in CONDS:
            yield i, 0
            yield i, 1
        else:
            yield i, None


def paths_of(prog, rng):
    """One path for each way that some input takes, and the number of ways that none takes."""
    solver = Solver(prog, rng)
    paths, out_of_reach = [], 0
    for index, side in all_ways(prog):
        path = solver.path_to(index, side)
        if path is None:
            out_of_reach += 1
        else:
            paths.append(path)
    return solver, list(dict.fromkeys(paths)), out_of_reach


def make_inputs(progs, count, rng):
    pool = sorted({(k + d) & ALL for prog in progs for _, _, _, k in prog for d in (-1, 0, 1)})
    pool += [0] * (len(pool) // 2 + 1)
    inputs, reach = {}, []
    sources = []
    for prog in progs:
        solver, paths, missed = paths_of(prog, rng)
        reach.append(missed)
        sources.append((solver, paths))
        for path in paths:
            inputs[solver.input_for(path, pool)] = None
    base = list(inputs)
    # The rest: solved again, or one of them with a word or two changed.
    while len(inputs) < count:
        if rng.random() < 0.05:
            solver, paths = rng.choice(sources)
            words = solver.input_for(rng.choice(paths), pool)
        else:
            words = list(rng.choice(base))
            for _ in range(rng.choice((1, 1, 2))):
                words[rng.randrange(16)] = rng.choice(pool)
        inputs[tuple(words)] = None
    return list(inputs), reach


def graph_reachable(prog):
    reached = {0}
    for i in range(len(prog)):
        if i in reached:
            reached.update(ways(prog, i))
    return reached


def check_agreement(before, after, count, rng, batch, paths):
    inputs, missed = make_inputs((before, after), count, rng)
    ours = {0: [], 1: []}
    executed = [set(), set()]
    for words in inputs:
        for n, prog in enumerate((before, after)):
            result, steps, taken = run(prog, words)
            ours[n].append((result, steps))
            executed[n].update(taken)
            executed[n].add((taken[-1][1] if taken else 0, None))
        if ours[0][-1][0] != ours[1][-1][0]:
            raise Bad(f"before gives {ours[0][-1][0]:#x} and after {ours[1][-1][0]:#x} on {words}")
        if ours[1][-1][1] > ours[0][-1][1]:
            raise Bad(f"after executes more instructions than before on {words}")
    for n, prog in enumerate((before, after)):
        # Every way that is not proven out of reach must have been taken.
        wanted = sum(1 for _ in all_ways(prog)) - missed[n]
        equal = sum(1 for i in range(len(prog)) if prog[i][0] in CONDS
                    and len(set(ways(prog, i))) == 1 and (i, ways(prog, i)[0]) in executed[n])
        if len(executed[n]) + equal != wanted:
            raise Bad(f"only {len(executed[n])} of {wanted} ways were taken")
        check_evaluator(batch, paths[n], inputs, ours[n])
    reached = [len({i for i, _ in executed[n]}) for n in (0, 1)]
    return len(inputs), reached, missed


def check_evaluator(batch, path, inputs, ours):
    data = b"".join(struct.pack("<16I", *words) for words in inputs)
    lines = subprocess.run([batch, "eval", path], input=data, stdout=subprocess.PIPE,
                           check=True).stdout.split(b"\n")[:-1]
    if len(lines) != len(inputs):
        raise Bad("the library's evaluator stopped early")
    for line, mine, words in zip(lines, ours, inputs):
        if tuple(map(int, line.split())) != mine:
            raise Bad(f"evaluators differ on {words}: library {line.decode()}, here {mine}")


def made_filter(rng):
    """A filter as a simple compiler would write it: rules in turn, jumps over jumps everywhere."""
    prog = []

    def label():
        return object()

    def emit(code, k=0, jt=None, jf=None):
        prog.append([code, jt, jf, k])

    def place(where):
        prog.append(where)

    deny, arch_ok = label(), label()
    emit(LD_ABS, 4)
    emit(JEQ, 0xC000003E, arch_ok, deny)
    place(arch_ok)
    for nr in rng.sample(range(300), rng.randrange(2, 25)):
        after, allow = label(), label()
        if rng.random() < 0.3:
            # Two ways that meet with different words in A.
            left, right, meet = label(), label(), label()
            emit(JSET, rng.choice((1, 2, 4)), left, right)
            place(left)
            emit(LD_ABS, 4 * rng.choice((0, 0, 4)))
            emit(JA, jt=meet)
            place(right)
            emit(LD_ABS, 4 * rng.choice((0, 0, 4)))
            place(meet)
        emit(LD_ABS, 0)
        match = label()
        emit(JGE if rng.random() < 0.04 else JEQ, nr, match, after)
        place(match)
        for _ in range(rng.choice((0, 0, 1, 2, 3, 6))):
            nxt = label()
            arg = rng.randrange(3)
            for half in (0, 4):
                good = label()
                emit(LD_ABS, 16 + 8 * arg + half)
                if rng.random() < 0.3:
                    emit(AND_K, rng.choice((0x7F, 0xFFFF0000, 0x3)))
                emit(rng.choice((JEQ, JEQ, JSET, JGT)), rng.randrange(8) if half == 0 else 0,
                     good, nxt)
                place(good)
                if rng.random() < 0.5:
                    hop = label()
                    emit(JA, jt=hop)
                    place(hop)
            emit(JA, jt=allow)
            place(nxt)
        emit(JA, jt=rng.choice((deny, after, allow)))
        place(allow)
        emit(RET_K, rng.choice((0x7FFF0000, 0x7FFF0000, 0x00050001)))
        place(after)
    place(deny)
    emit(RET_K, 0x00050026)
    return assemble(prog)


def assemble(items):
    """Labels to distances; a condition that is too far from its target gets a ja behind it."""
    far = set()
    while True:
        index, where = 0, {}
        for item in items:
            if isinstance(item, list):
                index += 1 + 2 * (id(item) in far)
            else:
                where[item] = index
        out, again = [], False
        for item in items:
            if not isinstance(item, list):
                continue
            code, jt, jf, k = item
            i = len(out)
            if code == JA:
                out.append((JA, 0, 0, where[jt] - i - 1))
            elif code not in CONDS:
                out.append((code, 0, 0, k))
            elif id(item) in far:
                out += [(code, 0, 1, k), (JA, 0, 0, where[jt] - i - 2),
                        (JA, 0, 0, where[jf] - i - 3)]
            elif max(where[jt], where[jf]) - i - 1 > 255:
                far.add(id(item))
                again = True
                break
            else:
                out.append((code, where[jt] - i - 1, where[jf] - i - 1, k))
        if not again:
            return out


def check_one(batch, path, count, rng, out):
    name = os.path.basename(path)
    if path.endswith(".c"):
        subprocess.run([batch, "ddd", path, out + ".ddd"], check=True)
        path = out + ".ddd"
    line = subprocess.run([batch, "optimize", path, out], stdout=subprocess.PIPE, check=True,
                          text=True).stdout.strip()
    before, after = read_ddd(path), read_ddd(out)
    check_rules(before)
    check_rules(after)
    check_structure(after)
    inputs, reached, missed = check_agreement(before, after, count, rng, batch, (path, out))
    print(f"{name}: {line}; {inputs} inputs agree and reach {reached[0]} of "
          f"{len(graph_reachable(before))} connected instructions before, {reached[1]} of "
          f"{len(after)} after; ways that no input takes: {missed[0]}, {missed[1]}", flush=True)


def published():
    here = os.path.dirname(os.path.abspath(__file__))
    base = os.environ.get("BPFLOUPE_SECCOMP_DIR",
                          os.path.join(here, "..", "..", "..", "shared", "seccomp"))
    names = [os.path.join(base, "gvisor", name + ".generated.txt")
             for name in ("systrap", "kvm", "nvproxy")]
    return [name for name in names if os.path.exists(name)]


def main(argv):
    batch, count, made, files = argv[1], 100000, 0, []
    args = argv[2:]
    while args:
        arg = args.pop(0)
        if arg == "--inputs":
            count = int(args.pop(0))
        elif arg == "--made":
            made = int(args.pop(0))
        elif arg == "--published":
            files += published()
        else:
            files.append(arg)
    rng = random.Random(1)
    if not files and not made:
        print("skipped: the published filters are not here (BPFLOUPE_SECCOMP_DIR)")
        return SKIPPED
    with tempfile.TemporaryDirectory() as tmp:
        for n in range(made):
            path = os.path.join(tmp, f"made{n}.ddd")
            write_ddd(path, made_filter(rng))
            files.append(path)
        for path in files:
            try:
                check_one(batch, path, count, rng, os.path.join(tmp, "after.ddd"))
            except Bad as bad:
                print(f"{path}: {bad}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
