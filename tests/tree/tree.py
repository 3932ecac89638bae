#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Checks what the sources promise about themselves.

usage: tree.py SOURCE-DIR

 - text holds no unfinished work, no path of one machine, nothing but the project;
 - every source file names its licence in the first lines;
 - every public header is in bpfloupe.h and in src/meson.build;
 - every C file is named in the meson.build beside it (or above), and every file named there exists;
 - files stay small enough for one subject, and lines of C within 100 columns.
"""

import os
import re
import sys

TOP_FOLDERS = ("src", "ui", "tests", "data", "screenshots", ".ci")
BINARY = {".o", ".btf", ".raw"}
CODE = {".c", ".h", ".py", ".sh", ".def", ".bpfasm"}
SCRIPTS = {"dev", ".ci/run", "data/samples/build", "data/man/make"}
MAX_LINES = 1200
MAX_COLUMNS = 100

# Words in pieces, so that this file does not find itself.
UNFINISHED = re.compile(r"\b(%s)\b" % "|".join(
    ["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK", "not impl" + "emented", "unimpl" + "emented",
     "st" + "ub", "for n" + "ow"]))
ELSEWHERE = re.compile(r"(?<![\w.*])/(%s)/\w|\b(sub" % "|".join(["ho" + "me", "wo" + "rk", "Us" + "ers", "ro" + "ot"])
                       + r"agent|issue [0-9]+)\b", re.I)

complaints = []


def complain(path, what):
    complaints.append(f"{path}: {what}")


def tree(top):
    """Paths of the sources, relative to the top, whether or not git is there."""
    for name in sorted(os.listdir(top)):
        if name != ".git" and os.path.isfile(os.path.join(top, name)) and not name.endswith((".swp", "~")):
            yield name
    for folder in TOP_FOLDERS:
        for where, folders, files in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(f for f in folders if f != "__pycache__")
            for name in sorted(files):
                if not name.endswith((".swp", "~", ".orig", ".rej")):
                    yield os.path.relpath(os.path.join(where, name), top)


def read(top, path):
    with open(os.path.join(top, path), "rb") as f:
        data = f.read()
    if b"\0" in data:
        return None
    return data.decode("utf-8", "replace")


def check_words(path, text):
    for number, line in enumerate(text.splitlines(), 1):
        found = UNFINISHED.search(line) or ELSEWHERE.search(line)
        if found:
            complain(f"{path}:{number}", f"'{found.group(0)}'")


def check_licence(path, text):
    lines = text.splitlines()[:3]
    if not any("SPDX-License-Identifier: GPL-2.0-only" in line for line in lines):
        complain(path, "no SPDX line at the top")


def check_length(path, text):
    lines = text.count("\n")
    if path.endswith((".c", ".h")) and lines > MAX_LINES:
        complain(path, f"{lines} lines, more than one subject")


def check_width(path, text):
    """Strings are not broken, for they are searched for."""
    for number, line in enumerate(text.splitlines(), 1):
        if len(line.expandtabs(8)) > MAX_COLUMNS and '"' not in line:
            complain(f"{path}:{number}", f"wider than {MAX_COLUMNS} columns")


def check_headers(files):
    """The three lists of public headers are one."""
    there = {path[len("src/"):] for path in files if re.fullmatch(r"src/bpfloupe/\w+\.h", path)}
    included = set(re.findall(r'#include "(bpfloupe/\w+\.h)"', files["src/bpfloupe.h"]))
    block = re.search(r"public_headers = \[(.*?)\]", files["src/meson.build"], re.S).group(1)
    listed = {"bpfloupe/" + name for name in re.findall(r"'([\w.]+)'", block)}
    for what, names in (("bpfloupe.h includes", included), ("src/meson.build lists", listed)):
        for name in sorted(there - names):
            complain("src/" + name, f"missing among what {what}")
        for name in sorted(names - there):
            complain("src/" + name, f"{what} it, but it is not there")


def folder_of_list(path, files):
    """The nearest meson.build at or above a file."""
    folder = os.path.dirname(path)
    while folder and os.path.join(folder, "meson.build") not in files:
        folder = os.path.dirname(folder)
    return os.path.join(folder, "meson.build")


def check_lists(files):
    """A C file that no build names is dead, and a name without a file is a mistake."""
    for path in files:
        if not path.endswith(".c") or path.startswith("data/"):
            continue
        build = folder_of_list(path, files)
        name = os.path.relpath(path, os.path.dirname(build))
        stem = os.path.splitext(name)[0]
        if not re.search(rf"'({re.escape(name)}|{re.escape(stem)})'", files[build]):
            complain(path, f"{build} does not name it")
    build = files["tests/unit/meson.build"]
    for name in re.findall(r"^  '(\w+)',$", build, re.M):
        if f"tests/unit/{name}.c" not in files:
            complain("tests/unit/meson.build", f"there is no {name}.c")


def main():
    top = sys.argv[1]
    files = {}
    for path in tree(top):
        text = None if os.path.splitext(path)[1] in BINARY else read(top, path)
        if text is not None:
            files[path] = text
    for path, text in files.items():
        ending = os.path.splitext(path)[1]
        corpus = path.startswith(("tests/fuzz/corpus/", "tests/ui/files/"))
        if not corpus and path != "LICENSE" and not path.endswith((".log", ".svg")):
            check_words(path, text)
        if (ending in CODE and not corpus or path in SCRIPTS) and "/golden/" not in path:
            check_licence(path, text)
        check_length(path, text)
        if ending in {".c", ".h"} and not path.startswith("data/"):
            check_width(path, text)
    check_headers(files)
    check_lists(files)
    print("\n".join(complaints) or f"{len(files)} files, nothing to complain about")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
