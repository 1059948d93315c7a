"""Lists how each LDS read in an ISA listing is guarded.

Reads the output of gpu-module-to-binary{format=isa} from standard input. Prints, for each
kernel, its LDS reads in order with the vmcnt that was waited for since the read before:

    n4_d1: 1 1 1 1

`-` stands for a read without a wait. With --histogram, prints `1 x4` instead.
"""

import argparse
import collections
import re
import sys


def assemblies(text: str) -> str:
    """The listings in the assembly strings of the gpu.binary objects in `text`."""
    strings = re.findall(r'assembly = "((?:[^"\\]|\\.)*)"', text)
    if not strings:
        sys.exit("no assembly in the input")
    return "\n".join(
        re.sub(r"\\([0-9A-F]{2})", lambda match: chr(int(match[1], 16)), string)
        for string in strings
    )


def main() -> None:
    """Reads the listing and prints the waits."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histogram", action="store_true")
    args = parser.parse_args()
    waits: dict[str, list[str]] = {}
    kernel, seen = "", "-"
    for line in assemblies(sys.stdin.read()).splitlines():
        if match := re.match(r"(\w+):", line):
            kernel, seen = match[1], "-"
        elif match := re.search(r"s_waitcnt.*vmcnt\((\d+)\)", line):
            seen = match[1] if seen == "-" else str(min(int(seen), int(match[1])))
        elif re.match(r"\s*ds_read", line):
            waits.setdefault(kernel, []).append(seen)
            seen = "-"
    for name, found in waits.items():
        if args.histogram:
            counts = collections.Counter(found)
            print(f"{name}:", ", ".join(f"{n} x{counts[n]}" for n in sorted(counts)))
        else:
            print(f"{name}:", *found)


if __name__ == "__main__":
    main()
