"""Prints IR with shardings in place of their aliases, and without attributes that passes keep for themselves. CHECK lines can
then state the sharding of a value: shardings = ["[-, 256@tp:2]"]."""
import re
import sys

texts = {}
for line in sys.stdin:
    if alias := re.match(r'#(\w+) = #dist\.sharding<("[^"]*")', line):
        texts[alias[1]] = alias[2]
        continue
    if re.match(r"// -----", line):
        texts = {}
    line = re.sub(r", dist\.split = #\w+|, dist\.through = array<[^>]*>|, pipe\.stage = 0 : i64", "", line)
    sys.stdout.write(re.sub(r"#(\w+)", lambda m: texts.get(m[1], m[0]), line))
