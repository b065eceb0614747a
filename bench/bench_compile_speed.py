"""Speed and memory of instrumenting torch's sources, each against its peer in the same run.

Claims: at least 0.7 times the throughput of a bare tree-sitter parse of the same files; at least
10 times LibCST's parse-and-print; `-j 2` at least 1.7 times `-j 1`; memory at most 60 times the
largest file. Exit code 1 where a claim does not hold.
"""

import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from claims import Claims, median

from tests.support import paths

ROUNDS = 5
LIBCST_BYTES = 3_000_000


def build_parser(folder):
    """Compiles parse_only.c with the very parser objects that the command is linked from."""
    program = folder / "parse_only"
    third_party = paths.BUILD / "third_party"
    objects = sorted((paths.BUILD / "obj" / "release" / "third_party").glob("*.o"))
    words = [os.environ.get("CC", "gcc"), "-O2", "-fno-lto", str(paths.ROOT / "bench" / "parse_only.c")]
    words += [*map(str, objects), "-I", str(third_party / "tree-sitter" / "include")]
    subprocess.run([*words, "-o", str(program)], check=True)
    return program


def run_parser(program, files):
    started = time.perf_counter()
    text = "".join(f"{file}\n" for file in files)
    subprocess.run([str(program)], input=text, text=True, check=True, capture_output=True)
    return time.perf_counter() - started


def run_command(source, folder, jobs, count):
    """Seconds and peak bytes of instrumenting everything below `source`."""
    out = pathlib.Path(folder, f"out{jobs}")
    shutil.rmtree(out, ignore_errors=True)
    words = [str(paths.COMMAND), "--all", "--quiet", "-r", str(source), "-d", str(out), f"-j{jobs}"]
    started = time.perf_counter()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode or len(list(out.rglob("*.py"))) != count:
        sys.exit(f"{' '.join(words)} ended with {process.returncode}")
    return seconds, usage.ru_maxrss * 1024


def libcst_speed(files):
    """Bytes a second of LibCST's parse-and-print, on a sample; None where it is missing."""
    try:
        import libcst
    except ImportError:
        return None
    done, seconds = 0, 0.0
    for file in random.Random(5).sample(files, len(files)):
        source = file.read_bytes()
        started = time.perf_counter()
        try:
            printed = libcst.parse_module(source).bytes
        except libcst.ParserSyntaxError:
            continue
        seconds += time.perf_counter() - started
        assert printed == source
        done += len(source)
        if done > LIBCST_BYTES:
            break
    return done / seconds


def main():
    torch = paths.package_folder("torch")
    if torch is None:
        sys.exit("torch is not installed: its sources are what is measured")
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as t:
        folder = pathlib.Path(t)
        source = folder / "torch"
        for file in paths.package_files("torch"):
            copy = source / file.relative_to(torch)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        files = sorted(source.rglob("*.py"))
        size = sum(file.stat().st_size for file in files)
        largest = max(file.stat().st_size for file in files)
        program = build_parser(folder)
        parse, one, two, memory = [], [], [], 0
        for _ in range(ROUNDS):
            parse.append(run_parser(program, files))
            seconds, peak = run_command(source, folder, 1, len(files))
            one.append(seconds)
            memory = max(memory, peak)
            two.append(run_command(source, folder, 2, len(files))[0])
        libcst = libcst_speed(files)
    claims = Claims("Speed and memory of instrumenting torch's sources")
    throughput = median([a / b for a, b in zip(parse, one)])
    twice = median([a / b for a, b in zip(one, two)])
    parse, one, two = map(statistics.median, (parse, one, two))
    print(
        f"{len(files)} files, {size / 1e6:.1f} MB: parse {size / parse / 1e6:.1f} MB/s, "
        f"instrument {size / one / 1e6:.1f} MB/s, -j 2 {size / two / 1e6:.1f} MB/s, "
        f"peak {memory / 1e6:.1f} MB, largest file {largest / 1e6:.2f} MB"
    )
    claims.at_least(
        0.7, "throughput of instrumenting", throughput, peer="a bare tree-sitter parse of the same files"
    )
    claims.at_least(1.7, "throughput with -j 2", twice, peer="-j 1")
    claims.at_most(60, "peak memory", memory / largest, peer="the largest file's size")
    if libcst is None:
        claims.not_measured("throughput of instrumenting, against LibCST", "LibCST is not installed")
    else:
        print(f"LibCST {libcst / 1e6:.2f} MB/s")
        peer = "LibCST's parse and print of a sample of them"
        claims.at_least(10, "throughput of instrumenting", size / one / libcst, peer=peer)
    return claims.finish()


if __name__ == "__main__":
    sys.exit(main())
