"""TileExplorer: tiled matrix multiplication and the online softmax of FlashAttention, tile by tile."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from functools import partial
from html import escape
from typing import Any

from torchbook.viz.base import Visualizer, Whole, contract
from torchbook.viz.units import amount

setup = partial(contract, "tiles")

BYTES = 4  # of an element, float32

Matrix = list[list[float]]


def numbers(seed: int, rows: int, columns: int, skip: int = 0) -> Matrix:
    """Tenths from -2 to 2 by Park and Miller's generator, after `skip` of them."""
    state = seed + 1
    values = []
    for i in range(skip + rows * columns):
        state = state * 48271 % 2147483647
        if i >= skip:
            values.append((state % 41 - 20) / 10)
    return [values[r * columns : (r + 1) * columns] for r in range(rows)]


def _count(size: int, block: int) -> int:
    return -(-size // block)


# Matrix multiplication


@dataclass(frozen=True)
class Load:
    """A tile that is loaded: its matrix, place and elements, and whether it was in the cache."""

    matrix: str
    row: int
    column: int
    elements: int
    hit: bool


def programs(setting: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The tile of C of each program, in the order of their numbers."""
    rows, columns = _count(setting["m"], setting["block_m"]), _count(setting["n"], setting["block_n"])
    if setting["order"] == "row":
        return [(i // columns, i % columns) for i in range(rows * columns)]
    tiles = []
    for i in range(rows * columns):
        group, inside = divmod(i, setting["group"] * columns)
        first = group * setting["group"]
        high = min(rows - first, setting["group"])
        tiles.append((first + inside % high, inside // high))
    return tiles


def loads(setting: Mapping[str, Any]) -> list[list[Load]]:
    """What each step loads, one program after the other, through a cache that drops what was not used for longest."""
    kept: OrderedDict[tuple[str, int, int], None] = OrderedDict()
    size = {"A": ("m", "k"), "B": ("k", "n")}
    by_step = []
    for row, column in programs(setting):
        for step in range(_count(setting["k"], setting["block_k"])):
            now = []
            for key in (("A", row, step), ("B", step, column)):
                hit = key in kept
                kept[key] = None
                kept.move_to_end(key)
                while len(kept) > setting["cache"]:
                    kept.popitem(last=False)
                high, wide = (
                    min(setting[f"block_{axis}"], setting[axis] - place * setting[f"block_{axis}"])
                    for axis, place in zip(size[key[0]], key[1:], strict=True)
                )
                now.append(Load(*key, high * wide, hit))
            by_step.append(now)
    return by_step


@dataclass(frozen=True)
class Traffic:
    """Bytes of A and B that come from memory.

    Attributes:
        untiled: when each element of C reads its row and its column.
        tiled: when each program loads its tiles.
        cached: the same, without those that the cache holds.
        least: each element once.
        sofar: `cached`, up to and with the step that is shown.
        tiles: how many different tiles were loaded up to then.
    """

    untiled: int
    tiled: int
    cached: int
    least: int
    sofar: int
    tiles: int


def traffic(setting: Mapping[str, Any], step: int) -> Traffic:
    """Bytes from memory for the whole product, and up to a step."""
    m, n, k = (setting[axis] for axis in "mnk")
    all_of = loads(setting)
    until = [load for now in all_of[: step + 1] for load in now]
    every = [load for now in all_of for load in now]
    return Traffic(
        untiled=2 * m * n * k * BYTES,
        tiled=sum(load.elements for load in every) * BYTES,
        cached=sum(load.elements for load in every if not load.hit) * BYTES,
        least=(m * k + k * n) * BYTES,
        sofar=sum(load.elements for load in until if not load.hit) * BYTES,
        tiles=len({(load.matrix, load.row, load.column) for load in until}),
    )


def operands(setting: Mapping[str, Any]) -> tuple[Matrix, Matrix]:
    """A and B."""
    m, n, k = (setting[axis] for axis in "mnk")
    return numbers(setting["seed"], m, k), numbers(setting["seed"], k, n, m * k)


@dataclass(frozen=True)
class Product:
    """A step of a program: the tiles it loads, zeros beyond the edge, and its accumulator afterwards."""

    program: int
    row: int
    column: int
    depth: int
    a: Matrix
    b: Matrix
    accumulator: Matrix
    last: bool


def product(setting: Mapping[str, Any], step: int) -> Product:
    """The step of the tiled product."""
    a, b = operands(setting)
    depth = _count(setting["k"], setting["block_k"])
    program, now = divmod(step, depth)
    row, column = programs(setting)[program]
    bm, bn, bk = (setting[f"block_{axis}"] for axis in "mnk")
    accumulator = [[0.0] * bn for _ in range(bm)]
    tile_a: Matrix = []
    tile_b: Matrix = []
    for d in range(now + 1):
        tile_a, tile_b = _tile(a, row * bm, d * bk, bm, bk), _tile(b, d * bk, column * bn, bk, bn)
        for i in range(bm):
            for j in range(bn):
                for x in range(bk):
                    accumulator[i][j] += tile_a[i][x] * tile_b[x][j]
    return Product(program, row, column, now, tile_a, tile_b, accumulator, now == depth - 1)


def _tile(of: Matrix, row: int, column: int, high: int, wide: int) -> Matrix:
    return [
        [of[i][j] if i < len(of) and j < len(of[0]) else 0.0 for j in range(column, column + wide)]
        for i in range(row, row + high)
    ]


# Attention


def heads(setting: Mapping[str, Any]) -> tuple[Matrix, Matrix, Matrix]:
    """Q, already times `gain`, K and V."""
    tokens, wide = setting["tokens"], setting["head_dim"]
    q, k, v = (numbers(setting["seed"], tokens, wide, i * tokens * wide) for i in range(3))
    return [[x * setting["gain"] for x in row] for row in q], k, v


def visits(setting: Mapping[str, Any]) -> list[tuple[int, int]]:
    """The tiles of scores that are computed, a tile of queries after the other; with a causal mask some are not."""
    high, wide = setting["block_q"], setting["block_kv"]
    tiles = []
    for i in range(_count(setting["tokens"], high)):
        for j in range(_count(setting["tokens"], wide)):
            last = min((i + 1) * high, setting["tokens"]) - 1
            if not setting["causal"] or j * wide <= last:
                tiles.append((i, j))
    return tiles


@dataclass(frozen=True)
class Row:
    """A query's row in one step of the online softmax.

    Attributes:
        query: its number.
        scores: scaled products with the keys of the tile; -inf where masked.
        before, maximum: the running maximum before and after.
        rescale: exp(before - maximum), by which sum and accumulator are multiplied.
        weights: exp(scores - maximum).
        total_before, total: the running sum of exponentials before and after.
        accumulator: the running sum of weighted values afterwards.
        output: accumulator / total, the row of the result if this is the last tile.
    """

    query: int
    scores: list[float]
    before: float
    maximum: float
    rescale: float
    weights: list[float]
    total_before: float
    total: float
    accumulator: list[float]
    output: list[float]


@dataclass(frozen=True)
class Online:
    """A step of a program of FlashAttention's forward."""

    program: int
    tile: int
    rows: list[Row]
    last: bool


def online(setting: Mapping[str, Any], step: int) -> Online:
    """The step of the online softmax."""
    q, k, v = heads(setting)
    program, tile = visits(setting)[step]
    high, wide, size = setting["block_q"], setting["block_kv"], setting["head_dim"]
    scale = 1 / math.sqrt(size)
    rows = []
    for query in range(program * high, min((program + 1) * high, setting["tokens"])):
        maximum, total, accumulator = -math.inf, 0.0, [0.0] * size
        for j in range(tile + 1):
            keys = range(j * wide, min((j + 1) * wide, setting["tokens"]))
            scores = []
            for key in keys:
                score = 0.0
                for x in range(size):
                    score += q[query][x] * k[key][x]
                scores.append(-math.inf if setting["causal"] and key > query else score * scale)
            before, total_before = maximum, total
            maximum = max(before, *scores)
            rescale = math.exp(before - maximum)
            weights = [math.exp(score - maximum) for score in scores]
            total = total_before * rescale
            for weight in weights:
                total += weight
            for x in range(size):
                accumulator[x] *= rescale
                for weight, key in zip(weights, keys, strict=True):
                    accumulator[x] += weight * v[key][x]
        output = [x / total for x in accumulator]
        rows.append(
            Row(query, scores, before, maximum, rescale, weights, total_before, total, list(accumulator), output)
        )
    return Online(program, tile, rows, step + 1 == len(visits(setting)) or visits(setting)[step + 1][0] != program)


@dataclass(frozen=True)
class Passes:
    """Bytes to and from memory of attention.

    Attributes:
        eager: scores and weights are written and read.
        tiled: Q and the output once, keys and values for each tile that is computed.
        scores: bytes of the matrix of scores, which the eager one keeps.
        computed, skipped, masked: tiles of scores; masked are those computed in part for nothing.
    """

    eager: int
    tiled: int
    scores: int
    computed: int
    skipped: int
    masked: int


def passes(setting: Mapping[str, Any]) -> Passes:
    """Bytes to and from memory of both ways."""
    tokens, size, high, wide = (setting[name] for name in ("tokens", "head_dim", "block_q", "block_kv"))
    seen = visits(setting)
    keys = sum(min(wide, tokens - j * wide) for _, j in seen)
    masked = [1 for i, j in seen if setting["causal"] and min((j + 1) * wide, tokens) - 1 > i * high]
    return Passes(
        eager=(4 * tokens * tokens + 4 * tokens * size) * BYTES,
        tiled=(2 * tokens * size + 2 * keys * size) * BYTES,
        scores=tokens * tokens * BYTES,
        computed=len(seen),
        skipped=_count(tokens, high) * _count(tokens, wide) - len(seen),
        masked=len(masked),
    )


# The figure


def steps(setting: Mapping[str, Any]) -> int:
    """How many tile steps there are."""
    if setting["kind"] == "attention":
        return len(visits(setting))
    m, n, k = (_count(setting[axis], setting[f"block_{axis}"]) for axis in "mnk")
    return m * n * k


class TileExplorer(Visualizer):
    """Tiled matrix multiplication, or the online softmax of FlashAttention, one tile at a time.

    Of the product it shows which tiles of A and B a program loads, its accumulator, and the bytes from memory with and
    without tiles and a cache, in row order or grouped. Of attention it shows the running maximum, the running sum, the
    factor that rescales what was summed, and the accumulator, with and without a causal mask. The numbers are those of
    a small real example. On the plain page the same figure works without a kernel.

    Args:
        step: the step that is shown, from 0.
        row: the row of the tile whose numbers are written out.

    Attributes:
        state: a `Product` or an `Online`: the numbers of the step.

    Raises:
        ValueError: there is no such preset.
        traitlets.TraitError: a number is out of its range.

    Example:
        >>> TileExplorer(preset="grouped").state.row
        2
    """

    step = Whole(0, low=0, help="The step that is shown.").tag(sync=True)
    row = Whole(0, low=0, help="The row of the tile that is written out.").tag(sync=True)

    @property
    def state(self) -> Product | Online:
        step = min(self.step, steps(self.setting) - 1)
        return product(self.setting, step) if self.kind == "matmul" else online(self.setting, step)

    def _describe(self) -> str:
        return describe(self.setting, self.step, self.row)

    def _draw(self) -> str:
        return _picture(self.setting, self.step, self.words)


def fixed(x: float) -> str:
    """A number with four decimals, as the page writes it; very large and very small ones with an exponent."""
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    size, sign = Decimal(abs(x)), "−" if x < 0 else ""
    if x == 0 or 5e-5 <= abs(x) < 1e6:
        return f"{sign}{size.quantize(Decimal('0.0001'), ROUND_HALF_UP):f}"  # as JavaScript rounds
    exponent = size.adjusted()
    mantissa = size.scaleb(-exponent).quantize(Decimal("0.01"), ROUND_HALF_UP)
    if mantissa == 10:
        mantissa, exponent = Decimal("1.00"), exponent + 1
    return f"{sign}{mantissa}e{exponent}".replace("-", "−")


def _span(first: int, count: int, size: int) -> str:
    return f"{first}:{min(first + count, size)}"


def describe(setting: Mapping[str, Any], step: int, row: int) -> str:
    """The step in sentences."""
    total = steps(setting)
    step = min(step, total - 1)
    if setting["kind"] == "attention":
        return _describe_online(setting, step, row, total)
    m, n, k = (setting[axis] for axis in "mnk")
    bm, bn, bk = (setting[f"block_{axis}"] for axis in "mnk")
    now, seen = product(setting, step), traffic(setting, step)
    order = "row by row" if setting["order"] == "row" else f"grouped by {setting['group']}"
    a, b = loads(setting)[step]
    at = [f"A[{_span(now.row * bm, bm, m)}, {_span(now.depth * bk, bk, k)}]",
          f"B[{_span(now.depth * bk, bk, k)}, {_span(now.column * bn, bn, n)}]"]  # fmt: skip
    come = ["from the cache" if load.hit else "from memory" for load in (a, b)]
    done = " and writes the tile to C" if now.last else ""
    cached = f", with a cache of {setting['cache']} tiles {amount(seen.cached)}" if setting["cache"] else ""
    return (
        f"Product of A ({m} × {k}) and B ({k} × {n}) in tiles of {bm} × {bn} × {bk}, programs {order}. "
        f"Step {step + 1} of {total}: program {now.program}, C[{_span(now.row * bm, bm, m)}, "
        f"{_span(now.column * bn, bn, n)}], loads {at[0]} {come[0]} and {at[1]} {come[1]}, adds their product to its "
        f"accumulator{done}. The first element of the accumulator is {fixed(now.accumulator[0][0])}. So far "
        f"{seen.tiles} different tiles and {amount(seen.sofar)} from memory; the whole product reads "
        f"{amount(seen.untiled)} without tiles, {amount(seen.tiled)} with tiles{cached}, {amount(seen.least)} at least."
    )


def _describe_online(setting: Mapping[str, Any], step: int, row: int, total: int) -> str:
    now, seen = online(setting, step), passes(setting)
    tokens, high, wide = setting["tokens"], setting["block_q"], setting["block_kv"]
    state = now.rows[min(row, len(now.rows) - 1)]
    mask = f", causal: {seen.skipped} of {seen.computed + seen.skipped} tiles skipped" if setting["causal"] else ""
    if state.before == -math.inf:
        moved = f"maximum {fixed(state.maximum)}, nothing before it to rescale"
    elif state.maximum > state.before:
        moved = (
            f"the maximum rises from {fixed(state.before)} to {fixed(state.maximum)}, so what was summed is multiplied "
            f"by {fixed(state.rescale)}"
        )
    else:
        moved = f"the maximum stays {fixed(state.maximum)}, nothing is rescaled"
    done = f" The row is finished: output {_list(state.output)}." if now.last else ""
    return (
        f"Attention of {tokens} tokens, head_dim {setting['head_dim']}, in tiles of {high} queries and {wide} keys"
        f"{mask}. Step {step + 1} of {total}: queries {_span(now.program * high, high, tokens)}, keys "
        f"{_span(now.tile * wide, wide, tokens)}. Query {state.query}: scores {_list(state.scores)}; {moved}; sum of "
        f"exponentials {fixed(state.total)}; accumulator {_list(state.accumulator)}.{done} Memory: eager attention "
        f"moves {amount(seen.eager)} and keeps {amount(seen.scores)} of scores, in tiles {amount(seen.tiled)} and none."
    )


def _list(values: Sequence[float]) -> str:
    return f"({', '.join(fixed(value) for value in values)})"


def _picture(setting: Mapping[str, Any], step: int, words: str) -> str:
    """Static drawing: the matrices with the tiles of the step."""
    step = min(step, steps(setting) - 1)
    unit, left, top = 14.0, 20.0, 22.0
    parts: list[str] = []

    def matrix(name: str, x: float, y: float, rows: int, columns: int, high: int, wide: int) -> None:
        parts.append(f'<text x="{x}" y="{y - 6:g}" font-weight="700">{name} ({rows} × {columns})</text>')
        parts.append(
            f'<rect x="{x}" y="{y}" width="{columns * unit:g}" height="{rows * unit:g}" fill="none" '
            'stroke="currentColor"/>'
        )
        for i in range(high, rows, high):
            parts.append(
                f'<path d="M{x} {y + i * unit:g}h{columns * unit:g}" stroke="currentColor" stroke-opacity=".35"/>'
            )
        for j in range(wide, columns, wide):
            parts.append(
                f'<path d="M{x + j * unit:g} {y}v{rows * unit:g}" stroke="currentColor" stroke-opacity=".35"/>'
            )

    def mark(x: float, y: float, i: int, j: int, sizes: tuple[int, int, int, int], opacity: str) -> None:
        rows, columns, high, wide = sizes
        parts.append(
            f'<rect x="{x + j * wide * unit:g}" y="{y + i * high * unit:g}" '
            f'width="{min(wide, columns - j * wide) * unit:g}" '
            f'height="{min(high, rows - i * high) * unit:g}" fill-opacity="{opacity}"/>'
        )

    if setting["kind"] == "attention":
        tokens, high, wide = setting["tokens"], setting["block_q"], setting["block_kv"]
        sizes = (tokens, tokens, high, wide)
        matrix("scores, queries down, keys across", left, top, *sizes)
        seen = visits(setting)
        for at, (i, j) in enumerate(seen[: step + 1]):
            mark(left, top, i, j, sizes, ".5" if at == step else ".12")
        for i in range(_count(tokens, high)):
            for j in range(_count(tokens, wide)):
                if (i, j) not in seen:  # skipped: crossed out
                    x, y = left + j * wide * unit, top + i * high * unit
                    right, low = min(left + tokens * unit, x + wide * unit), min(top + tokens * unit, y + high * unit)
                    parts.append(
                        f'<path d="M{x:g} {y:g}L{right:g} {low:g}" stroke="currentColor" stroke-opacity=".5"/>'
                    )
        width, height = max(tokens * unit, 230) + 2 * left, top + tokens * unit + 8
    else:
        m, n, k = (setting[axis] for axis in "mnk")
        bm, bn, bk = (setting[f"block_{axis}"] for axis in "mnk")
        now = product(setting, step)
        right, low = left + max(k * unit, 90) + 30, top + k * unit + 34
        of_a, of_b, of_c = (m, k, bm, bk), (k, n, bk, bn), (m, n, bm, bn)
        matrix("A", left, low, *of_a)
        matrix("B", right, top, *of_b)
        matrix("C", right, low, *of_c)
        for i, j in programs(setting)[: now.program]:
            mark(right, low, i, j, of_c, ".12")
        mark(left, low, now.row, now.depth, of_a, ".4")
        mark(right, top, now.depth, now.column, of_b, ".4")
        mark(right, low, now.row, now.column, of_c, ".5")
        width, height = right + max(n * unit, 90) + left, low + m * unit + 8
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'style="max-width:min(100%,{width:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="13" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )
