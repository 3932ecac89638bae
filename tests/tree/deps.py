#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks which way the modules depend on each other, and what the library may call.

usage: deps.py SOURCE-DIR NM LIBRARY

Headers: each module includes only what its row allows; nothing of src/ includes curses; ui/ includes
the public headers only. Symbols: no object of the static library prints, exits or keeps a terminal;
only the writers write to a FILE that they were given.
"""

import os
import re
import subprocess
import sys

# What a module's files may include besides their own headers and the public ones.
MAY_INCLUDE = {
    "btf": set(),
    "cfg": set(),
    "filter": {"rewrite"},
    "generate": {"insn"},
    "image": set(),
    "insn": set(),
    "kernel": {"insn"},
    "klog": {"btf", "insn", "verifier/typename.h"},
    "load": {"btf", "image", "insn"},
    "policy": {"filter/constants.h", "filter/plan.h"},
    "report": {"cfg"},
    "rewrite": set(),
    "source": {"btf"},
    "trace": {"insn"},
    "verifier": {"btf", "image", "insn"},
    "why": {"filter", "policy"},
}
# Who uses which library of other people.
FOREIGN = {
    "bpf/": {"load"},
    "gelf.h": {"load"},
    "jansson.h": {"report"},
    "libelf.h": {"load"},
    "zlib.h": {"load"},
}
# Public headers that the verifier knows: what it reads and what it says.
VERIFIER_PUBLIC = {"common.h", "image.h", "insn.h", "state.h", "verify.h"}

# Calls that no library makes for its user: they print, end the process, or belong to a terminal.
FORBIDDEN = re.compile(
    r"(printf|vprintf|__printf_chk|__vprintf_chk|puts|putchar|perror|psignal|stdout|stderr|stdin"
    r"|exit|_exit|_Exit|quick_exit|abort|err|errx|verr|warn|warnx|error|system|setlocale"
    r"|initscr|endwin|\w*ncurses\w*)")
# Writing to a FILE, which is the caller's or memory.
WRITING = re.compile(r"(v?fprintf|__v?fprintf_chk|fputs|fputc|putc|fwrite)(_unlocked)?")
WRITERS = re.compile(r"report_\w+|filter_emit|why_text|generate_tree|insn_asm_write")
# Objects with a reason of their own.
ALLOWED = {
    ("kernel_verify", "_exit"),  # the child that asks the kernel without privilege
}

complaints = []


def sources(top, folder):
    for where, folders, files in os.walk(os.path.join(top, folder)):
        folders.sort()
        for name in sorted(files):
            if name.endswith((".c", ".h")):
                yield os.path.relpath(os.path.join(where, name), top)


def includes(top, path):
    with open(os.path.join(top, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if found:
                yield number, found.group(1) == "<", found.group(2)


def allowed(module, header):
    first = header.split("/")[0]
    if first == "bpfloupe":
        return module != "verifier" or header.split("/")[1] in VERIFIER_PUBLIC
    if header.startswith("kernel/6.") or module == "load" and first == "helper":
        return True  # a table of the modelled kernel; the loader process
    if header == "bpfloupe.h":
        return module != "verifier"
    return first == module or bool({first, header} & MAY_INCLUDE[module])


def check_library_file(top, path, module):
    public = path.startswith("src/bpfloupe/")
    for number, system, header in includes(top, path):
        where = f"{path}:{number}"
        if "curses" in header:
            complaints.append(f"{where}: the library knows no terminal")
        elif system:
            for foreign, users in FOREIGN.items():
                if header.startswith(foreign) and module not in users:
                    complaints.append(f"{where}: <{header}> is for {', '.join(users)}")
        elif public and not os.path.exists(os.path.join(top, "src/bpfloupe", header)):
            complaints.append(f"{where}: a public header includes a private one")
        elif module and not allowed(module, header):
            complaints.append(f"{where}: {module} does not depend on {header}")


def check_includes(top):
    for path in sources(top, "src"):
        parts = path.split(os.sep)
        module = parts[1] if len(parts) > 2 and parts[1] != "bpfloupe" else None
        if module and module not in MAY_INCLUDE:
            complaints.append(f"{path}: tests/tree/deps.py has no row for the module {module}")
        else:
            check_library_file(top, path, module)
    for path in sources(top, "ui"):
        for number, system, header in includes(top, path):
            if not system and "/" in header and not header.startswith("bpfloupe/"):
                complaints.append(f"{path}:{number}: {header} is private to the library")


def check_symbols(nm, library):
    listed = subprocess.run([nm, "-A", "-u", library], check=True, capture_output=True, text=True)
    objects = set()
    for line in listed.stdout.splitlines():
        found = re.search(r"([\w.-]+)\.c\.o:\s*[UwW]\s+(\w+)", line)
        if not found:
            continue
        name, symbol = found.groups()
        objects.add(name)
        if FORBIDDEN.fullmatch(symbol) and (name, symbol) not in ALLOWED:
            complaints.append(f"{name}: calls {symbol}")
        if WRITING.fullmatch(symbol) and not WRITERS.fullmatch(name):
            complaints.append(f"{name}: writes with {symbol}, which is for src/report")
    if len(objects) < 50:
        complaints.append(f"{library}: only {len(objects)} objects call anything; nm says too little")
    return len(objects)


def main():
    top, nm, library = sys.argv[1:]
    check_includes(top)
    count = check_symbols(nm, library)
    print("\n".join(complaints) or f"{count} objects, nothing to complain about")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
