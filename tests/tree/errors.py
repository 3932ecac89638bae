#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: errors.py TOP    every message that can reject a program has an explanation, and no row is idle

Takes the messages out of src/verifier and looks each up in ui/errors.def, as ui/explain.c does.
"""
import pathlib
import re
import sys

# What is printed in pieces, as a whole; None: a piece of one that is looked up, or no error.
WHOLE = {
    "%u: ": None,
    "%s%s": None,
    " smin=%lld": None,
    " smax=%lld": None,
    " unknown scalar value": None,
    " should have been in [%d, %d]\\n": None,
    "expected=%s\\n": None,
    "Func#%u ('%s') is global and assumed valid.\\n": None,
    "%s the register %s has": "At program exit the register R0 has smin=5 smax=5 should have been in [0, 3]",
    "BPF_ATOMIC %s R%u %s is not allowed\\n": "BPF_ATOMIC stores into R1 ctx is not allowed",
    "R%u type=%s expected=": "R1 type=scalar expected=fp",
    "R%u type=%s ": "R1 type=scalar expected=fp",
    "invalid%s stack R%u off=%d size=%d\\n": "invalid write to stack R1 off=0 size=1",
    "invalid unbounded variable-offset%s stack R%u\\n": "invalid unbounded variable-offset write to stack R1",
    "invalid variable-offset%s stack R%u var_off=%s off=%d size=%d\\n":
        "invalid variable-offset read from stack R1 var_off=(0x0; 0xff) off=0 size=1",
}
# Said by the log's writer, by other kernels, by libbpf in the log's place, or by us where the kernel says nothing; and values for which
# a message has a row of its own.
MORE = [
    "infinite loop detected at insn 3",
    "R0 invalid mem access 'map_value_or_null'",
    "R1 invalid mem access 'scalar'",
    "unknown func bpf_get_prandom_u32#7",
    "calling kernel function bpf_x is not allowed",
    "invalid func unknown#195896080",
    "invalid func unknown#2002000000",
    "0: <invalid CO-RE relocation>",
    "kfunc 'bpf_x' is referenced but wasn't resolved",
    "<BPF map 'x' is referenced but wasn't created>",
    "R1 type=sock_or_null expected=sock",
    "rejected without a message: struct_ops of no kernel structure",
    "rejected without a message: constant of a map with several entries",
]

CALL = re.compile(r'\bvf_msg\s*\(\s*[\w>-]+\s*,\s*((?:"(?:[^"\\]|\\.)*"\s*(?:PRI\w+\s*)?)+)', re.S)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
ROW = re.compile(r'^ERROR\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', re.M)


def unquote(text):
    return re.sub(r"\\(.)", lambda m: "\n" if m.group(1) == "n" else m.group(1), text)


def example(form):
    """A message that the form could print."""
    form = re.sub(r"%%", "%", unquote(form))
    return re.sub(r"%[-0-9.]*(ll|z)?[a-zA-Z]", lambda m: "x" if m.group(0)[-1] == "s" else "1", form)


def matches(pattern, message):
    at = 0
    for part in pattern.split("*"):
        at = message.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def main():
    top = pathlib.Path(sys.argv[1])
    text = (top / "ui/errors.def").read_text()
    patterns = [unquote("".join(LITERAL.findall(m))) for m in ROW.findall(text)]
    used = set()
    wrong = cnt = 0
    found = [(None, 0, m) for m in MORE]
    for path in sorted((top / "src/verifier").glob("*.c")):
        source = path.read_text()
        for call in CALL.finditer(source):
            form = "".join(LITERAL.findall(call.group(1)))
            found.append((path, source.count("\n", 0, call.start()) + 1, WHOLE.get(form, example(form))))
    for path, line, message in found:
        if message is None:
            continue
        cnt += 1
        for pattern in patterns:
            if matches(pattern, message):
                used.add(pattern)
                break
        else:
            print(f"{path}:{line}: no explanation in ui/errors.def: {message.strip()}")
            wrong += 1
    for pattern in patterns:
        if pattern not in used:
            print(f"ui/errors.def: no message is explained by '{pattern}'")
            wrong += 1
    print(f"{cnt} messages, {len(patterns)} explanations, {wrong} faults")
    return 1 if wrong or cnt < 200 else 0


sys.exit(main())
