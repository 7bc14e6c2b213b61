"""Computes the bytes of a rank's arena that are needed at one place of its program, from the program that the rank executes.

The plan's bound in `inspect` is the compiler's own figure, and `inspect` does not list instructions or buffers. So the program
is taken out of the rank's executable (runtime/program/Program.fbs is its schema, flatc reads it) and its actions are visited
one by one. A value is live from the first to the last instruction, post or wait that uses it in a microbatch, in any of its
shapes. Inputs are live during the whole step, because all microbatches use them; outputs are live until the end of the step. An
instruction is one place, however often it runs, because the values of its microbatches have addresses of their own. Bytes count
once, however many buffers name them; buffers begin at multiples of 64 bytes, so a partly used line of 64 bytes counts whole.
The result is at most the compiler's bound. The number of slots must not exceed the number of microbatches that are live at
once."""
import collections
import json
import os
import shutil
import struct
import subprocess
import tempfile

import pcc

LINE = 64
SCHEMA = os.path.join(pcc.ROOT, "runtime", "program", "Program.fbs")
MAGIC, HEADER = b"PCCPROG\1", struct.Struct("<8sQQQ32x")


def tables_of(executable):
    """Returns the FlatBuffers bytes of a rank's executable. The runtime in it contains the magic number as well, without a
    program."""
    with open(executable, "rb") as f:
        data = f.read()
    at = data.find(MAGIC)
    while at >= 0:
        begin = at + HEADER.size
        if data[begin + 4:begin + 8] == b"PCCP":
            return data[begin:begin + HEADER.unpack_from(data, at)[2]]
        at = data.find(MAGIC, at + 1)
    raise pcc.Failure(f"{executable} has no program")


def read_program(executable):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "program.bin")
        with open(path, "wb") as f:
            f.write(tables_of(executable))
        subprocess.run([shutil.which("flatc"), "--json", "--strict-json", "--defaults-json", "--raw-binary", "-o", folder, SCHEMA,
                        "--", path], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(folder, "program.json"), errors="replace") as f:
            return json.load(f)


OPERANDS = {"Kernel": ["buffers"], "Matmul": ["a", "b", "c", "bias", "residual", "a_sums", "b_sums"], "Conv": ["x", "w", "y", "bias", "residual"],
            "Pool": ["x", "y"], "Collective": ["in", "out", "scratch"], "CheckIndices": ["buffer"], "Copy": ["source", "target"],
            "Fill": ["buffer"], "HostOp": ["inputs", "outputs"]}


def buffers_of(instruction):
    """Returns the buffers that an instruction names; absent ones are -1."""
    named = [instruction["body"].get(field, -1) for field in OPERANDS[instruction["body_type"]]]
    return [b for entry in named for b in (entry if isinstance(entry, list) else [entry]) if b >= 0]


class Liveness:
    """Invariant: held[buffer, microbatch] is the first and the last moment at which the walk so far has touched the value."""

    def __init__(self, program):
        self.program, self.held, self.now = program, {}, 0
        self.buffers = program["buffers"]
        # Places by moment. An instruction that runs again is the same place.
        self.places = [None]

    def touch(self, buffer, microbatch):
        first, _ = self.held.get((buffer, microbatch), (self.now, self.now))
        self.held[buffer, microbatch] = first, self.now

    def walk(self):
        microbatches = range(self.program["microbatches"])
        for port in self.program.get("inputs", []):
            self.touch_port(port)
        for number, action in enumerate(self.program["actions"]):
            self.advance(number)
            for message in action.get("sends", []):
                self.touch_end(message, "from_buffer")
            for message in action.get("receives", []):
                self.touch_end(message, "to_buffer")
            if action["function"] >= 0:
                for i, instruction in enumerate(self.program["functions"][action["function"]]["instructions"]):
                    self.advance((action["function"], i))
                    self.run(instruction, microbatches if action["kind"] == "Unshard" else [action["microbatch"]])
        self.advance(None)
        for port in self.program.get("inputs", []) + self.program.get("outputs", []):
            self.touch_port(port)

    def advance(self, place):
        self.now += 1
        self.places.append(place)

    def run(self, instruction, microbatches):
        for buffer in buffers_of(instruction):
            for microbatch in microbatches:
                self.touch(buffer, microbatch)

    def touch_end(self, message, end):
        buffer = self.program["transfers"][message["transfer"]][end]
        if buffer >= 0:
            self.touch(buffer, message["microbatch"])

    def touch_port(self, port):
        if port["buffer"] >= 0:
            for microbatch in range(self.buffers[port["buffer"]]["slots"]):
                self.touch(port["buffer"], microbatch)

    def pieces(self):
        """Returns (first moment, last moment, begin, end) of every value in the arena."""
        lives = collections.defaultdict(list)
        for (index, microbatch), (first, last) in self.held.items():
            buffer = self.buffers[index]
            if buffer["memory"] == "Arena" and buffer["bytes"]:
                begin = buffer["offset"] + microbatch % buffer["slots"] * buffer["slot_stride"]
                end = begin + -(-buffer["bytes"] // LINE) * LINE
                lives[buffer.get("name"), microbatch, begin, end].append((first, last))
        values = [(first, last, *key[2:]) for key, spans in lives.items() for first, last in spans]
        for (_, _, begin, end), spans in lives.items():
            spans.sort()
            yield from ((first, last, begin, end) for first, last in joined(spans, [v for v in values if v[2] < end and v[3] > begin]))

    def most(self):
        begins, ends = collections.defaultdict(list), collections.defaultdict(list)
        for first, last, *piece in self.pieces():
            begins[first].append(tuple(piece))
            ends[last + 1].append(tuple(piece))
        live, needed = collections.Counter(), collections.defaultdict(set)
        for moment, place in enumerate(self.places):
            live.subtract(ends[moment])
            live.update(begins[moment])
            needed[place].update(p for p, count in live.items() if count > 0)
        return max(covered(pieces) for pieces in needed.values())

    def check_slots(self):
        """Checks that a buffer has as many slots as microbatches are live at once."""
        spans = collections.defaultdict(dict)
        for (index, microbatch), (first, last) in self.held.items():
            buffer = self.buffers[index]
            if buffer["memory"] == "Arena":
                # All shapes of a value are at one place.
                value = spans[buffer.get("name"), buffer["offset"], buffer["slots"]]
                old = value.get(microbatch, (first, last))
                value[microbatch] = min(first, old[0]), max(last, old[1])
        for (name, _, slots), held in spans.items():
            together = max(sum(first <= moment <= last for first, last in held.values()) for moment, _ in held.values())
            if slots > together:
                raise pcc.Failure(f"buffer {name} has {slots} slots, of which {together} are held at once")


def joined(spans, neighbours):
    """Joins the spans of a value that is reshaped: it has a buffer for each shape, with one name and place. Its spans are one
    as long as none of the `neighbours`, which share bytes with it, begins between two of them."""
    result = []
    for first, last in spans:
        if result and not any(result[-1][1] < n[0] < first for n in neighbours):
            result[-1][1] = max(result[-1][1], last)
        else:
            result.append([first, last])
    return result


def covered(pieces):
    """Returns the number of bytes that are in at least one piece."""
    total, reached = 0, 0
    for begin, end in sorted(pieces):
        total += max(0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def live_bytes(executable):
    """Returns the largest number of bytes of the arena that are needed at one place of the program."""
    liveness = Liveness(read_program(executable))
    liveness.walk()
    liveness.check_slots()
    return liveness.most()
