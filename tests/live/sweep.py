#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""usage: sweep.py BPFLOUPE [--save DIR] [PART...]

Programs that differ in one place, each compared with the running kernel. The parts: opcodes (every
opcode byte with registers, offsets and constants), values (every operation on values of every kind),
callbacks (the same on what callbacks get), arguments (types and tags of global functions' arguments),
fields (what the kernel looks after in the values of maps). --save keeps the programs. Skips itself (77)
without root, and on another kernel than 6.18.
"""
import os
import pathlib
import subprocess
import sys
import tempfile


class Programs:
    """Assembler text of many programs of one type."""

    def __init__(self, prog_type, more=""):
        self.text = [f".type {prog_type}\n{more}"]
        self.cnt = 0

    def add(self, body):
        self.text.append(f".prog p{self.cnt}\n{body}\n")
        self.cnt += 1


def opcodes():
    """Around the instruction, registers of several kinds and room for short jumps."""
    programs = Programs("sched_cls")
    before = "\tr0 = 0\n\t*(u64 *)(r10 -8) = r0\n\tr6 = r1\n\tr2 = r10\n\tr2 += -8\n\tr3 = 3\n"
    after = "\tr0 = 1\n" * 3 + "\texit"
    for code in range(256):
        for dst, src in ((0, 3), (3, 0), (2, 3), (1, 2), (10, 0), (0, 11), (11, 0), (3, 1)):
            for off in (0, 1, 16):
                for imm in (0, 1, 8, 64):
                    programs.add(f"{before}\t.insn {code} {dst} {src} {off} {imm}\n{after}")
    return {"opcodes": programs}


# --- values --------------------------------------------------------------------------------------

ADD, MUL, END = 0x00, 0x20, 0xd0
ALU_OPS = range(ADD, END + 1, 0x10)
JUMP_OPS = [op for op in range(0x10, 0xe0, 0x10) if op not in (0x80, 0x90)]
LOADS = (0x61, 0x69, 0x71, 0x79, 0x81, 0x89, 0x91)
STORES = (0x63, 0x6b, 0x73, 0x7b)


def uses():
    """What can be done with R9; R8 is the context or 0."""
    then_read = "\tr1 = *(u8 *)(r9 +0)\n"
    for wide, alu, jump in ((True, 7, 5), (False, 4, 6)):
        for op in ALU_OPS:
            yield f"\t.insn {op | alu} 9 0 0 {16 if op == END else 8}\n{then_read}"
            for other in ("r10", "r9", "r8", "8"):
                if op != END:
                    yield f"\tr7 = {other}\n\t.insn {op | alu | 8} 9 7 0 0\n{then_read}"
                if op < MUL and wide:
                    yield f"\tr7 = {other}\n\t.insn {op | alu | 8} 7 9 0 0\n\tr1 = *(u8 *)(r7 +0)\n"
            if wide and op < MUL:
                yield ("\tcall bpf_get_prandom_u32\n\tr0 &= 7\n"
                       f"\t.insn {op | alu | 8} 9 0 0 0\n{then_read}")
        for op in JUMP_OPS:
            yield f"\t.insn {op | jump} 9 0 1 0\n{then_read}"
            for other in ("r10", "r9", "0"):
                yield f"\tr7 = {other}\n\t.insn {op | jump | 8} 9 7 1 0\n{then_read}"
    for off in (0, 4, 8, 15, -1, -8):
        for code in LOADS:
            yield f"\t.insn {code} 1 9 {off} 0\n"
        for code in STORES:
            yield f"\tr1 = 1\n\t.insn {code} 9 1 {off} 0\n\t.insn {code - 1} 9 0 {off} 2\n"
        for imm in (0, 0xf1, 0x110):
            yield f"\tr0 = 1\n\tr7 = 2\n\t.insn 219 9 7 {off} {imm}\n"
    for code in STORES:
        yield f"\t.insn {code} 10 9 -160 0\n\tr1 = *(u64 *)(r10 -160)\n\tr2 = *(u8 *)(r1 +0)\n"
        yield f"\t.insn {code} 9 9 0 0\n"
        yield f"\t.insn {code} 8 9 48 0\n"
    for size in (0, 1, 8, 16, 17):
        yield f"\tr1 = r9\n\tr2 = {size}\n\tcall bpf_get_current_comm\n"
        yield f"\tr1 = r9\n\tr2 = {size}\n\tr3 = 0\n\tr4 = r10\n\tr4 += -8\n\tcall bpf_strtol\n"
    yield "\tr0 = r9\n\texit\n"


LOOKUP = ("\t*(u64 *)(r10 -128) = 0\n\tr2 = r10\n\tr2 += -128\n\tr1 = map[{}]\n"
          "\tcall bpf_map_lookup_elem\n\tr9 = r0\n")
NOT_NULL = "\tif r9 == 0 goto out\n"
HASH = ".map h type=hash key=8 value=16 entries=4\n"
RINGBUF = ".map rb type=ringbuf entries=4096\n"
RESERVE = "\tr1 = map[rb]\n\tr2 = 16\n\tr3 = 0\n\tcall bpf_ringbuf_reserve\n\tr9 = r0\n"
INNER = ("\n.map in type=array key=4 value=16 entries=4\n"
         ".map out type=array_of_maps key=4 value=4 entries=4 inner=in\n")
FROZEN = ".map f type=array key=4 value=16 entries=1 flags=0x80 frozen data=" + "41" * 15 + "00\n"
ARENA = ".map a type=arena entries=4 flags=0x400\n"
PACKET = "\tr9 = *(u32 *)(r8 +76)\n\tr7 = *(u32 *)(r8 +80)\n"
SOCKET = "\tr9 = *(u64 *)(r8 +168)\n"
FULL = SOCKET + NOT_NULL + "\tr1 = r9\n\tcall bpf_{}\n\tr9 = r0\n"

# Maps, and what puts the value into R9.
VALUES = {
    "number": ("", "\tr9 = 8\n"),
    "unknown": ("", "\tcall bpf_get_prandom_u32\n\tr9 = r0\n"),
    "stack": ("", "\tr9 = r10\n\tr9 += -16\n"),
    "context": ("", "\tr9 = r8\n"),
    "map": (HASH, "\tr9 = map[h]\n"),
    "value": (HASH, LOOKUP.format("h") + NOT_NULL),
    "value_or_null": (HASH, LOOKUP.format("h")),
    "frozen": (FROZEN, "\tr9 = map_value[f]\n"),
    "inner_map": (INNER, LOOKUP.format("out") + NOT_NULL),
    "record": (RINGBUF, RESERVE + NOT_NULL),
    "record_or_null": (RINGBUF, RESERVE),
    "arena": (ARENA, "\tr9 = map_value[a]\n\tr1 = map[a]\n\tr9 = addr_space_cast(r9, 0, 1)\n"),
    "packet": ("", PACKET + "\tr6 = r9\n\tr6 += 16\n\tif r6 > r7 goto out\n"),
    "packet_end": ("", PACKET + "\tr9 = r7\n"),
    "socket_or_null": ("", SOCKET),
    "socket_common": ("", SOCKET + NOT_NULL),
    "socket": ("", FULL.format("sk_fullsock") + NOT_NULL),
    "tcp_socket": ("", FULL.format("tcp_sock") + NOT_NULL),
}


def values():
    parts = {}
    for name, (maps, make) in VALUES.items():
        parts[f"values_{name}"] = programs = Programs("sched_cls", maps)
        for use in uses():
            programs.add(f"\t*(u64 *)(r10 -8) = 0\n\tr8 = r1\n{make}{use}out:\tr0 = 1\n\texit")
    return parts


# --- callbacks -----------------------------------------------------------------------------------

# Maps, and how main calls the helper whose callback is cb.
CALLBACKS = {
    "loop": ("", "\tr1 = 4\n\tr2 = func cb\n\tr3 = r10\n\tr3 += -16\n\tr4 = 0\n\tcall bpf_loop\n"),
    "each": (HASH, "\tr1 = map[h]\n\tr2 = func cb\n\tr3 = 0\n\tr4 = 0\n"
                   "\tcall bpf_for_each_map_elem\n"),
    "drain": (".map u type=user_ringbuf entries=4096\n",
              "\tr1 = map[u]\n\tr2 = func cb\n\tr3 = 0\n\tr4 = 0\n\tcall bpf_user_ringbuf_drain\n"),
}


def callbacks():
    parts = {}
    for name, (maps, call) in CALLBACKS.items():
        parts[f"callbacks_{name}"] = programs = Programs("xdp", maps)
        for reg in (1, 2, 3, 4):
            for use in uses():
                programs.add('.func "int prog(void *ctx)" global\n\t*(u64 *)(r10 -16) = 0\n'
                             f"{call}\tr0 = 1\n\texit\n"
                             '.func "long cb(void *a)" static\n'
                             f"\tr9 = r{reg}\n\tr8 = 0\n{use}\tr0 = 0\n\texit")
    return parts


# --- arguments -----------------------------------------------------------------------------------

TYPES = ("int", "char", "__u64", "bool", "struct pair", "pair_t", "union both", "struct empty",
         "int *", "char *", "void *", "const char *", "struct pair *", "const pair_t *", "union both *",
         "struct empty *", "int **", "struct __sk_buff *", "struct xdp_md *", "struct pt_regs *",
         "struct bpf_user_pt_regs_t *", "struct bpf_perf_event_data *",
         "struct bpf_raw_tracepoint_args *")
TAGS = ("", "__arg_ctx", "__arg_nonnull", "__arg_nullable", "__arg_untrusted", "__arg_arena",
        "__arg_nonnull __arg_nullable", "__arg_ctx __arg_nonnull", "__arg_untrusted __arg_nonnull",
        "__arg_nonnull __arg_arena")
DECLARED = ('.decl "struct pair { int a; int b; };"\n.decl "typedef struct pair pair_t;"\n'
            '.decl "union both { int a; __u64 b; };"\n')


def arguments():
    parts = {}
    for prog_type in ("xdp", "sched_cls", "kprobe", "tracepoint", "raw_tracepoint", "perf_event"):
        parts[f"arguments_{prog_type}"] = programs = Programs(prog_type, DECLARED)
        for type_name in TYPES:
            for tags in TAGS:
                for give in ("", "\tr1 = 0\n", "\tr1 = r10\n\tr1 += -16\n"):
                    programs.add('.func "int prog(void *ctx)" global\n\t*(u64 *)(r10 -16) = 0\n'
                                 f"\t*(u64 *)(r10 -8) = 0\n{give}\tcall f\n\tr0 = 1\n\texit\n"
                                 f'.func "int f({type_name} a {tags})" global\n\tr2 = r1\n'
                                 "\tif r1 == 0 goto out\n\tr0 = *(u8 *)(r2 +0)\n"
                                 "out:\tr0 = 0\n\texit")
            programs.add('.func "int prog(void *ctx)" global\n\tcall f\n\tr0 = 1\n\texit\n'
                         f'.func "{type_name} f(int a)" global\n\tr0 = r1\n\texit')
    return parts


# --- fields --------------------------------------------------------------------------------------

# Structures that the kernel knows by name, and how many words of 4 or 8 bytes they have.
FIELDS = {"bpf_spin_lock": (1, "__u32"), "bpf_res_spin_lock": (1, "__u32"), "bpf_timer": (2, "__u64"),
          "bpf_wq": (2, "__u64"), "bpf_task_work": (1, "__u64"), "bpf_refcount": (1, "__u32"),
          "bpf_timer_of_others": (2, "__u64")}
LAYOUTS = ("struct {0} f; __u64 n;", "__u64 n; struct {0} f;", "struct {0} f; struct {0} g;",
           "struct {0} f[2];", "struct {0} f[1]; __u64 n;")
# The types that the fields are made of come first, so that these are the ids that follow.
WORDS = '.decl "struct words { int i; __u32 w; __u64 d; };"\n'
INT_ID, VALUE_ID = 2, 8


def value_size(words, word, layout):
    field = words * int(word[3:]) // 8
    size = layout.count("struct") * field * (2 if "[2]" in layout else 1)
    if "__u64" in layout:
        return (size + 7) // 8 * 8 + 8
    return size


def field_uses(size):
    for off in sorted({0, 4, 8, 16, size - 8, size - 4} & set(range(size))):
        for code in (0x61, 0x71, 0x79):
            yield f"\t.insn {code} 1 6 {off} 0\n"
        yield f"\t.insn 98 6 0 {off} 1\n"
        yield f"\tr1 = r6\n\tr1 += {off}\n\tr2 = 4\n\tcall bpf_get_current_comm\n"
        yield (f"\tr1 = r6\n\tr1 += {off}\n\tcall bpf_spin_lock\n"
               f"\tr1 = r6\n\tr1 += {off}\n\tcall bpf_spin_unlock\n")
        yield f"\tr1 = r6\n\tr1 += {off}\n\tr2 = map[m]\n\tr3 = 1\n\tcall bpf_timer_init\n"
        yield f"\tr1 = r6\n\tr1 += {off}\n\tr2 = 0\n\tr3 = 0\n\tcall bpf_timer_start\n"
    yield "\tr1 = r6\n\tr2 = 0\n\tcall bpf_kptr_xchg\n"
    yield "\tr2 = r6\n\tr1 = map[m]\n\tcall bpf_map_lookup_elem\n"


def fields():
    parts = {}
    for prog_type in ("xdp", "socket_filter", "kprobe"):
        for name, (words, word) in FIELDS.items():
            for which, layout in enumerate(LAYOUTS):
                size = value_size(words, word, layout)
                members = " ".join(f"{word} {c};" for c in "ab"[:words])
                decl = (f'{WORDS}.decl "struct {name} {{ {members} }};"\n'
                        f'.decl "struct val {{ {layout.format(name)} }};"\n')
                programs = Programs(prog_type, f"{decl}.map m type=hash key=4 value={size} entries=4 "
                                               f"btf_key={INT_ID} btf_value={VALUE_ID}\n")
                for use in field_uses(size):
                    programs.add('.func "int prog(void *ctx)" global\n\t*(u32 *)(r10 -4) = 9\n'
                                 "\tr2 = r10\n\tr2 += -4\n\tr1 = map[m]\n"
                                 "\tcall bpf_map_lookup_elem\n\tif r0 == 0 goto out\n\tr6 = r0\n"
                                 f"{use}out:\tr0 = 0\n\texit")
                parts[f"fields_{prog_type}_{name}_{which}"] = programs
    return parts


PARTS = {part.__name__: part for part in (opcodes, values, callbacks, arguments, fields)}


def compare(bpfloupe, folder, names):
    cnt = 0
    for name in names or PARTS:
        for file, programs in PARTS[name]().items():
            pathlib.Path(folder, f"{file}.bpfasm").write_text("".join(programs.text))
            cnt += programs.cnt
    files = sorted(str(path) for path in pathlib.Path(folder).glob("*.bpfasm"))
    done = subprocess.run([bpfloupe, "parity", "-o", "csv", "-j", "2", *files], text=True,
                          stdout=subprocess.PIPE, check=False)
    for row in done.stdout.splitlines():
        if ",differs," in row:
            print(row)
    print(f"{cnt} programs")
    # 3: some program was not judged by one of the two, which is no difference.
    return 0 if done.returncode in (0, 3) else done.returncode


def main():
    args = sys.argv[1:]
    if os.geteuid():
        print("skipped: comparing with the running kernel needs root")
        return 77
    if not os.uname().release.startswith("6.18."):
        print(f"skipped: the model is Linux 6.18, this is {os.uname().release}")
        return 77
    if "--save" in args:
        at = args.index("--save")
        folder = args[at + 1]
        del args[at:at + 2]
        return compare(args[0], folder, args[1:])
    with tempfile.TemporaryDirectory() as folder:
        return compare(args[0], folder, args[1:])


sys.exit(main())
