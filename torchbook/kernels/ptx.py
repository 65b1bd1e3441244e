"""Compile the kernels for a GPU that need not be there, and say what became of them.

`python -m torchbook.kernels.ptx` prints, for every configuration that the autotuner would try, the instructions that
matter, registers a thread, bytes spilled and shared memory. `--json` gives the same to programs; the chapter reads it.
Runs in a process of its own: what is interpreted cannot be compiled.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from torchbook.kernels import INTERPRETED, flash, fused, rows, tiles, vector

SHARED = {90: 227 * 1024, 80: 163 * 1024}  # bytes that one program may have
WATCHED = {
    "wgmma": r"\bwgmma\.mma_async",
    "mma": r"\bmma\.sync",
    "tile copies": r"\bcp\.async\.bulk\.tensor",
    "copies": r"\bcp\.async\.(?:ca|cg)",
    "loads": r"\bld\.global",
    "stores": r"\bst\.global",
    "fma": r"\bfma\.rn\.f32",
}
POINTER, DESCRIBED, NUMBER, FLOAT = "*bf16", "tensordesc<bf16{}>", "i32", "fp32"


def jobs() -> Iterator[tuple[str, Any, triton.Config, dict[str, str], dict[str, Any]]]:
    """Name, kernel, configuration, types of the arguments, and the values of those that are constants."""
    none = triton.Config({}, num_warps=8)
    add = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": NUMBER}
    yield "add", vector.add_kernel, triton.Config({}, num_warps=4), add, {"BLOCK": vector.BLOCK}
    softmax = {"x": POINTER, "out": POINTER, "columns": NUMBER, "x_row": NUMBER, "out_row": NUMBER}
    yield "softmax", rows.softmax_kernel, none, softmax, {"x_column": 1, "BLOCK": 4096}

    sizes = dict.fromkeys(("m", "n", "k"), NUMBER)
    strides = dict.fromkeys(("a_row", "b_row", "c_row"), NUMBER)
    plain = {"bias": None, "BIAS": False, "ACTIVATION": "", "UPCAST": False}
    ones = {"a_column": 1, "b_column": 1, "EVEN_K": True, "PRECISION": "tf32"}
    for config in tiles.SIXTEEN_BIT:
        yield "matmul", tiles.matmul_kernel, config, dict.fromkeys("abc", POINTER) | sizes | strides, plain | ones
    for config in tiles.DESCRIPTORS:
        m, n, k = (config.kwargs[name] for name in ("BLOCK_M", "BLOCK_N", "BLOCK_K"))
        shapes = {"a": [m, k], "b": [k, n], "c": [m, n]}
        described = {name: DESCRIBED.format(json.dumps(shape)) for name, shape in shapes.items()}
        constants = plain | {"A_TURNED": False, "B_TURNED": False, "PROGRAMS": 132}
        yield "matmul, descriptors", tiles.matmul_descriptor_kernel, config, described | sizes, constants

    mlp = dict.fromkeys(("x", "w1", "b1", "w2", "b2", "out"), POINTER)
    mlp |= dict.fromkeys(("m", "width", "hidden", "out_width", "x_row", "w1_column", "w2_column"), NUMBER)
    constants = {"x_column": 1, "w1_row": 1, "w2_row": 1, "BLOCK_IN": 128, "BLOCK_OUT": 128}
    for config in fused.CONFIGS:
        yield "mlp in one", fused.mlp_kernel, config, mlp, constants | {"PRECISION": "tf32", "UPCAST": False}

    names = ("q", "k", "v", "out")
    counts = dict.fromkeys(("heads", "queries", "keys"), NUMBER) | {"scale": FLOAT}
    steps = {f"{name}_{part}": NUMBER for name in names for part in ("batch", "head", "row")}
    last = {f"{name}_column": 1 for name in "qkv"}
    for causal in (False, True):
        name = "attention, causal" if causal else "attention"
        fixed = {"HEAD_DIM": 128, "CAUSAL": causal, "UPCAST": False}
        for config in flash.CONFIGS:
            types = dict.fromkeys(names, POINTER) | counts | steps
            yield name, flash.attention_kernel, config, types, fixed | last | {"PRECISION": "tf32"}
        for config in flash.DESCRIPTORS:
            m, n = config.kwargs["BLOCK_M"], config.kwargs["BLOCK_N"]
            types = {key: DESCRIBED.format([1, 1, m if key in ("q", "out") else n, 128]) for key in names} | counts
            yield f"{name}, descriptors", flash.attention_descriptor_kernel, config, types, fixed


def compiled(kernel: Any, config: triton.Config, types: dict[str, str], constants: dict[str, Any], arch: int) -> Any:
    """The kernel for that architecture (90: H100, H200; 80: A100), with `asm` and `metadata`."""
    constants = constants | config.kwargs
    signature = {name: types.get(name, "constexpr") for name in kernel.arg_names}
    # What the launcher would find out by looking: pointers, sizes and strides are multiples of 16.
    aligned = {
        (i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if kind[0] == "*" or kind == NUMBER
    }
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants, attrs=aligned)
    options = {"num_warps": config.num_warps, "num_stages": config.num_stages}
    return triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)


def resources(cubin: bytes) -> dict[str, int]:
    """Registers a thread and bytes of stack (spilled registers) by the cuobjdump that triton brings."""
    tool = Path(triton.__file__).parent / "backends/nvidia/bin/cuobjdump"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        report = subprocess.run([tool, "-res-usage", file.name], capture_output=True, text=True, check=True).stdout
    usage = dict(re.findall(r"\b(REG|STACK):(\d+)", report))
    return {"registers": int(usage["REG"]), "stack": int(usage["STACK"])}


def instructions(ptx: str) -> dict[str, int]:
    """How often each of WATCHED stands in the text."""
    counts = Counter({name: len(re.findall(pattern, ptx)) for name, pattern in WATCHED.items()})
    return {name: count for name, count in counts.items() if count}


def main() -> None:
    """Compile and print."""
    parser = argparse.ArgumentParser(prog="python -m torchbook.kernels.ptx", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("only", nargs="*", default=[""], help="kernels whose name begins so")
    parser.add_argument("--arch", type=int, default=90, help="90: H100 and H200 (default), 80: A100, 100: B200")
    parser.add_argument("--first", action="store_true", help="of each kernel only the first configuration")
    parser.add_argument("--text", action="store_true", help="print the PTX instead; with --json, add it")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if INTERPRETED:
        again = [sys.executable, "-m", "torchbook.kernels.ptx", *sys.argv[1:]]
        sys.exit(subprocess.run(again, env={**os.environ, "TRITON_INTERPRET": "0"}).returncode)
    chosen, seen = [], set()
    for job in jobs():
        if job[0].startswith(tuple(options.only)) and not (options.first and job[0] in seen):
            chosen.append(job)
            seen.add(job[0])
    results = []

    def compile_job(job: Any) -> tuple[Any, Any]:
        _, kernel, config, types, constants = job
        return job, compiled(kernel, config, types, constants, options.arch)

    with ThreadPoolExecutor(1 if len(chosen) == 1 else os.cpu_count()) as pool:
        for (name, _, config, _, _), binary in pool.map(compile_job, chosen):
            if options.text and not options.json:
                print(binary.asm["ptx"])
                continue
            result = {
                "kernel": name,
                "config": config.kwargs | {"num_stages": config.num_stages, "num_warps": config.num_warps},
                "shared": binary.metadata.shared,
                "fits": binary.metadata.shared <= SHARED.get(options.arch, 227 * 1024),
                **resources(binary.asm["cubin"]),
                "instructions": instructions(binary.asm["ptx"]),
            }
            if options.text:
                result["ptx"] = binary.asm["ptx"]
            results.append(result)
            if not options.json:
                print(_line(result), flush=True)
    if options.json:
        print(json.dumps(results))


def _line(result: dict[str, Any]) -> str:
    config = " ".join(str(value) for value in result["config"].values())
    counts = ", ".join(f"{count} {name}" for name, count in result["instructions"].items())
    fits = "" if result["fits"] else " (too much)"
    return (
        f"{result['kernel']:30} {config:20} {result['registers']:3} registers, {result['stack']:4} B stack, "
        f"{result['shared'] / 1024:5.0f} KB shared{fits}: {counts}"
    )


if __name__ == "__main__":
    main()
