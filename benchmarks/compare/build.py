"""A build that computes and writes 10,000 small files; prints the seconds that it took."""

import hashlib
import time
from pathlib import Path

_FILES = 10_000
_PER_DIRECTORY = 100
_ROUNDS = 40
"""So that compiling takes longer than writing, as it does."""


def main() -> float:
    started = time.perf_counter()
    text = b"x" * 4096
    for number in range(_FILES):
        directory = Path("out", str(number // _PER_DIRECTORY))
        if number % _PER_DIRECTORY == 0:
            directory.mkdir(parents=True)
        for _ in range(_ROUNDS):
            text = hashlib.sha256(text).digest() * 128
        (directory / f"{number}.o").write_bytes(text)
    return time.perf_counter() - started


if __name__ == "__main__":
    print(main())
