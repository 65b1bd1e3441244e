"""Drawings of transformers: attention, heads, masks, blocks, whole models, rotary positions, and what LoRA trains."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from torchbook.drawing.canvas import LINE, WIDTH, Box, Drawing, Part, Point, text_width

_W = 120.0  # of a layer
_H = 34.0
_STEP = _H + 22


def norm_placements() -> Drawing:
    """A transformer block twice: with its norms in the branches (pre-norm), and after the sums (post-norm)."""
    drawing = Drawing(
        "Pre-norm beside post-norm",
        "In a pre-norm block the stream runs straight from top to bottom; each branch leaves it, passes a norm and "
        "then attention or the MLP, and is added to it. In a post-norm block each branch passes attention or the MLP "
        "alone, and a norm stands in the stream itself, after each sum.",
    )
    _block(drawing, 0, "pre-norm", ["norm", "attention"], ["norm", "MLP"], after=False)
    low = _block(drawing, 194, "post-norm", ["attention"], ["MLP"], after=True)
    drawing.legend(0, low + 24, {"kept": "the stream", "read": "a norm"})
    return drawing


def _block(drawing: Drawing, x: float, name: str, first: Sequence[str], second: Sequence[str], *, after: bool) -> float:
    """From the top of the picture down, as the code is read; returns where it ends."""
    drawing.text(x, 0, name, bold=True)
    stream, y = x + 34, 44.0
    from_: Point = (stream, 18)
    for layers in (first, second):
        previous: Box | Point = (stream, y)
        at = y - (0 if len(layers) > 1 else -_STEP / 2) + 8
        for layer in layers:
            box = drawing.box(x + 68, at, layer, "read" if layer == "norm" else "", w=_W - 10, h=_H)
            drawing.arrow(previous, box, via=[(box.top[0], y)] if isinstance(previous, tuple) else [])
            previous, at = box, at + _STEP - 6
        plus = y + 2 * _STEP + 2
        assert isinstance(previous, Box)
        drawing.arrow(previous, (stream + 10, plus), via=[(previous.bottom[0], plus)])
        circle = drawing.circle(stream, plus, 10, "+", "kept")
        drawing.arrow(from_, circle, "kept")
        from_ = circle.bottom
        if after:
            norm = drawing.box(stream - 28, plus + 24, "norm", "read", w=56, h=26)
            drawing.arrow(from_, norm, "kept")
            from_ = norm.bottom
        y = plus + 62
    drawing.arrow(from_, (stream, y + 12), "kept")
    return y + 12


def collected(words: Sequence[str], asking: int, query: Tensor, keys: Tensor, values: Tensor) -> Drawing:
    """What attention does for one token: its query meets each key, the weights follow, and the values are averaged.

    Args:
        words: the tokens, two to four.
        asking: which of them asks, from 0.
        query: (D,), of that token; D is 2 or 3, so that vectors can be written out.
        keys: (T, D).
        values: (T, D).

    Raises:
        ValueError: there are other numbers of tokens, or shapes that do not fit.
    """
    if not 2 <= len(words) <= 4 or keys.shape != values.shape or keys.shape != (len(words), len(query)):
        raise ValueError(f"{len(words)} words, keys of {tuple(keys.shape)} and values of {tuple(values.shape)}")
    scores = keys @ query / math.sqrt(len(query))
    weights = scores.softmax(0)
    result = weights @ values
    shares = [f"{weight:.2f} from {word}" for word, weight in zip(words, weights.tolist(), strict=True)]
    drawing = Drawing(
        f"What {words[asking]} collects",
        f"The query {_vector(query)} of {words[asking]} meets the key of each token. The weights are "
        f"{', '.join(shares)}. The weighted mean of the values is {_vector(result)}.",
    )
    left, w, high = 62.0, (WIDTH - 6 - 62) / len(words), 70.0
    ask = drawing.box(left, 0, f"{words[asking]} asks: query {_vector(query)}", "read", w=w * len(words) - 8)
    for low, name in ((83, "key"), (117, "score"), (141 + high / 2, "weight"), (263, "value"), (325, "output")):
        drawing.text(left - 8, low, name, "end")
    out = drawing.box(left, 311, _vector(result), "write", w=w * len(words) - 8)
    for t, word in enumerate(words):
        x = left + t * w
        drawing.text(x + w / 2 - 4, 55, word, "middle", bold=True)
        key = drawing.box(x, 69, _vector(keys[t]), w=w - 8)
        drawing.arrow((key.top[0], ask.bottom[1]), (key.top[0], 46))
        drawing.text(key.bottom[0], 117, f"{float(scores[t]):.2f}", "middle")
        weight = float(weights[t])
        floor = 157 + high
        tall = max(weight * high, 1.5)
        drawing.box(x + 14, floor - tall, role="kept", w=w - 36, h=tall)
        drawing.text(key.bottom[0], floor - tall - 11, f"{weight:.2f}", "middle")
        drawing.text(key.bottom[0], floor + 10, word, "middle", bold=True)
        value = drawing.box(x, 249, _vector(values[t]), w=w - 8)
        drawing.arrow(value, (value.bottom[0], out.y), "kept" if weight > 0.05 else "absent")
    return drawing


def _vector(numbers: Tensor) -> str:
    """Its numbers in parentheses, with the fewest digits, one behind the point at most."""
    said = [f"{round(number, 1) + 0:g}".replace("-", "−") for number in numbers.tolist()]
    return f"({', '.join(said)})"


def heads_in_memory(tokens: int, width: int, heads: int) -> Drawing:
    """The elements of one sequence as they lie in memory, a row a token; below, the same elements head by head.

    Args:
        tokens: rows, 5 at most.
        width: channels of a token, 12 at most.
        heads: a divisor of the width, 2 or 3.

    Raises:
        ValueError: the heads do not divide the width, or there is more than a phone shows.
    """
    if heads not in (2, 3) or width % heads or not 0 < width <= 12 or not 0 < tokens <= 5:
        raise ValueError(f"{tokens} tokens of {width} channels in {heads} heads cannot be drawn")
    each, side = width // heads, 22.0
    wide = (WIDTH - 6 - 28) / width
    roles = ["read", "kept", ""]
    drawing = Drawing(
        f"{width} channels in {heads} heads",
        f"{tokens} tokens of {width} channels, a row a token. Head 0 is the first {each} channels of every row, and so "
        f"on. The next head starts {each} elements further, the next token {width}.",
    )
    numbers = [[t * width + c for c in range(width)] for t in range(tokens)]
    drawing.text(0, 0, f"in memory: {width} channels of each token", bold=True)
    cells = drawing.grid(28, 14, numbers, lambda r, c: roles[c // each], cell=(wide, side))
    for t, row in enumerate(cells):
        drawing.text(20, row[0].left[1], f"t{t}", "end")
    top = 14 + tokens * side + 20
    drawing.text(0, top, f"after the split: {heads} matrices of {tokens} by {each}", bold=True)
    narrow = min(wide, (WIDTH - 6 - 28 - 14 * (heads - 1)) / width)
    for h in range(heads):
        x = 28 + h * (each * narrow + 14)
        part = [row[h * each : (h + 1) * each] for row in numbers]
        drawing.grid(x, top + 14, part, lambda r, c, h=h: roles[h], cell=(narrow, side))  # type: ignore[misc]
        drawing.text(x + each * narrow / 2, top + 14 + tokens * side + 12, f"head {h}", "middle")
    for t in range(tokens):
        drawing.text(20, top + 14 + side * t + side / 2 - 1, f"t{t}", "end")
    return drawing


def by_hand(steps: Sequence[tuple[str, Tensor]]) -> Drawing:
    """One token on its way through a pre-norm block: the stream on the left, the two branches on the right.

    Args:
        steps: name and vector (C,), at most 5 channels, seven of them in the order of the code: what comes in, its
            norm, what attention adds, the sum, its norm, what the MLP adds, the sum.

    Raises:
        ValueError: other numbers of steps or channels, or a sum that is none.
    """
    if len(steps) != 7 or not 1 < len(steps[0][1]) <= 5:
        raise ValueError("a block is drawn with seven vectors of 2 to 5 channels")
    for first, second, both in ((0, 2, 3), (3, 5, 6)):
        if not torch.allclose(steps[first][1] + steps[second][1], steps[both][1], atol=1e-4):
            raise ValueError(f"{steps[first][0]!r} and {steps[second][0]!r} do not add up to {steps[both][0]!r}")
    drawing = Drawing(
        "One token on its way through a block",
        "; ".join(f"{name}: {', '.join(_short(vector))}" for name, vector in steps) + ".",
    )
    side = min(40.0, (WIDTH - 40) / 2 / len(steps[0][1]))
    wide = side * len(steps[0][1])
    right = WIDTH - 8 - wide
    middle, branch = wide / 2 - 1, right + wide / 2 - 1

    def vector(step: int, x: float, y: float, role: str) -> Box:
        name, numbers = steps[step]
        drawing.text(x, y - 12, name)
        cells = drawing.grid(x, y, [_short(numbers)], lambda r, c: role, cell=(side, 28))[0]
        return Box(x, y, wide - 2, cells[0].h)

    y, stream = 0.0, vector(0, 0, 0, "kept")
    for number in (1, 4):
        norm = vector(number, right, y, "read")
        drawing.arrow(stream, norm)
        added = vector(number + 1, right, y + 66, "write")
        drawing.arrow((branch + wide / 2 - side / 2, norm.bottom[1]), (branch + wide / 2 - side / 2, added.y))
        plus = drawing.circle(middle, added.left[1], 10, "+", "kept")
        drawing.arrow(stream, plus, "kept")
        drawing.arrow(added, plus)
        y += 136
        total = vector(number + 2, 0, y, "kept")
        drawing.arrow(plus, total, "kept")
        stream = total
    drawing.legend(0, y + 48, {"kept": "the stream", "read": "a normalised copy", "write": "what a branch adds"})
    return drawing


def _short(vector: Tensor) -> list[str]:
    """Its numbers, with one digit behind the point at most."""
    return [f"{round(number, 1) + 0:g}".replace("-", "−") for number in vector.tolist()]


def reached(moved: Mapping[str, Tensor], edited: tuple[int, int]) -> Drawing:
    """Which outputs of a batch move when one input is edited, for several modules below each other.

    Args:
        moved: name of a module to a boolean tensor (sequences, tokens), true where the output moved.
        edited: sequence and token of the input that was changed.

    Raises:
        ValueError: no modules, or tables of several shapes, or the edited place is in none of them.
    """
    shapes = {tuple(table.shape) for table in moved.values()}
    if len(shapes) != 1 or any(place >= size for place, size in zip(edited, next(iter(shapes)), strict=True)):
        raise ValueError(f"tables of the shapes {sorted(shapes)} do not fit a change at {edited}")
    ((sequences, tokens),) = shapes
    said = []
    for name, table in moved.items():
        places = [f"token {t} of sequence {s}" for s, t in table.nonzero().tolist()]
        said.append(f"{name}: {', '.join(places) or 'nothing'}")
    drawing = Drawing(
        f"What moves when token {edited[1]} of sequence {edited[0]} is edited", "What moves. " + "; ".join(said) + "."
    )
    names, w, side = text_width("sequence 0") + 8, 44.0, 26.0
    for t in range(tokens):
        drawing.text(names + w * (t + 0.5), 0, f"t{t}", "middle")
    y = 22.0
    for name, table in moved.items():
        drawing.text(0, y, name, bold=True)
        for s in range(sequences):
            drawing.text(names - 8, y + 14 + side * (s + 0.5), f"sequence {s}", "end")
        marks = [["edited" if (s, t) == edited else "" for t in range(tokens)] for s in range(sequences)]
        rows = [["E" if mark else "" for mark in row] for row in marks]
        drawing.grid(names, y + 14, rows, lambda r, c, table=table: "write" if table[r, c] else "", cell=(w, side))  # type: ignore[misc]
        y += 14 + side * sequences + 20
    drawing.text(0, y, "E: the input that was edited")
    drawing.legend(0, y + LINE + 4, {"write": "output moved", "": "output unmoved"})
    return drawing


def masks(allowed: Mapping[str, Tensor], queries: Sequence[str], keys: Sequence[str]) -> Drawing:
    """Two masks beside each other: which keys each query may read.

    Args:
        allowed: two names, each with a boolean tensor (queries, keys), true where the query may read the key.
        queries: names of the rows.
        keys: names of the columns.

    Raises:
        ValueError: there are not two masks, or one does not fit the names.
    """
    size = (len(queries), len(keys))
    if len(allowed) != 2 or any(mask.shape != size for mask in allowed.values()):
        raise ValueError(f"two masks of {size[0]} queries and {size[1]} keys are drawn")
    said = []
    for name, mask in allowed.items():
        rows = [
            f"{query} reads {', '.join(key for key, can in zip(keys, row, strict=True) if can) or 'nothing'}"
            for query, row in zip(queries, mask.tolist(), strict=True)
        ]
        said.append(f"{name}: {'; '.join(rows)}")
    drawing = Drawing(" beside ".join(allowed), ". ".join(said) + ".")
    left = max(text_width(query) for query in queries) + 10
    side = min(30.0, ((WIDTH - 6 - 16) / 2 - left) / len(keys))
    for number, (name, mask) in enumerate(allowed.items()):
        x = number * (WIDTH - 6 + 16) / 2
        drawing.text(x, 0, name, bold=True)
        for c, key in enumerate(keys):
            drawing.text(x + left + side * (c + 0.5) - 1, 24, key, "middle")
        for r, query in enumerate(queries):
            drawing.text(x + left - 8, 37 + side * (r + 0.5), query, "end")
        blank = [[""] * len(keys)] * len(queries)
        drawing.grid(x + left, 38, blank, lambda r, c, m=mask: "read" if m[r, c] else "absent", cell=(side, side))  # type: ignore[misc]
    drawing.legend(0, 38 + side * len(queries) + 16, {"read": "may be read", "absent": "hidden"})
    return drawing


def from_ids_to_logits(batch: int, tokens: int, width: int, vocabulary: int) -> Drawing:
    """The parts of a GPT below each other, with the shape of the tensor that leaves each.

    Args:
        batch: texts.
        tokens: of a text.
        width: channels of a token's vector.
        vocabulary: how many logits a position gets.
    """
    stream = (batch, tokens, width)
    return _way_through(
        "A GPT, from ids to logits",
        [
            ("ids", "", (batch, tokens)),
            ("token + position embeddings", "read", stream),
            ("block 1", "kept", stream),
            ("…", "", ()),
            ("block L", "kept", stream),
            ("final norm", "read", stream),
            ("head", "write", (batch, tokens, vocabulary)),
        ],
    )


def through_attention(batch: int, tokens: int, width: int, heads: int) -> Drawing:
    """What a batch passes in the attention of a GPT, with the shape of the tensor that leaves each step.

    Args:
        batch: texts.
        tokens: of a text.
        width: channels of a token's vector.
        heads: a divisor of the width.

    Raises:
        ValueError: it is no divisor.
    """
    if heads < 1 or width % heads:
        raise ValueError(f"{heads} heads do not divide {width} channels")
    stream, split = (batch, tokens, width), (batch, heads, tokens, width // heads)
    return _way_through(
        "A batch passes through attention",
        [
            ("normalised stream", "read", stream),
            ("q, k and v, each", "", stream),
            ("q, k and v in heads, each", "", split),
            ("weighted means of v", "", split),
            ("heads side by side", "", stream),
            ("output: added to the stream", "write", stream),
        ],
    )


def _way_through(title: str, parts: Sequence[tuple[str, str, Sequence[int]]]) -> Drawing:
    """Parts with their roles and shapes; an empty shape is where parts are left out."""
    shapes = [f"({', '.join(map(str, shape))})" if shape else "" for _, _, shape in parts]
    said = [f"{name}: {shape}" for (name, _, _), shape in zip(parts, shapes, strict=True) if shape]
    drawing = Drawing(title, "; ".join(said) + ".")
    wide = WIDTH - 6 - max(map(text_width, shapes)) - 12
    boxes = drawing.stack(0, 0, [(name, role) for name, role, _ in parts], w=wide, gap=18, arrows=True)
    for box, shape in zip(boxes, shapes, strict=True):
        if shape:
            drawing.text(wide + 12, box.right[1], shape)
    return drawing


def tied(words: Sequence[str], table: Tensor, token: int, added: Mapping[str, Tensor]) -> Drawing:
    """One table used twice: an id picks a row of it at the start, and the last vector meets all its rows at the end.

    Args:
        words: the vocabulary, at most 6.
        table: (words, C), two channels, the embedding.
        token: id that comes in.
        added: what attention and the MLP add, by name, two vectors (C,); the sum enters the head.

    Raises:
        ValueError: sizes that do not fit or cannot be drawn.
    """
    rows, channels = table.shape
    fits = rows == len(words) and 1 < rows <= 6 and channels == 2 and 0 <= token < rows
    if not fits or [one.shape for one in added.values()] != [(channels,)] * 2:
        raise ValueError(f"a table of {tuple(table.shape)} does not fit {len(words)} words and id {token}")
    final = table[token] + sum(added.values())
    logits = table @ final
    said = [f"{word} {number}" for word, number in zip(words, _short(logits), strict=True)]
    drawing = Drawing(
        "One table, used twice",
        f"At the start, the id {token} picks the row of {words[token]}, {_vector(table[token])}. "
        f"{' '.join(f'{name} adds {_vector(one)}.' for name, one in added.items())} At the end, the sum "
        f"{_vector(final)} is multiplied with every row, which gives the logits: {', '.join(said)}.",
    )
    side, high, left = 36.0, 28.0, 112.0
    right, times, out = left + side * channels, 252.0, 318.0
    drawing.text(left + side * channels / 2, 0, "the table", "middle", bold=True)
    drawing.text(0, 0, "start", bold=True)
    drawing.text(WIDTH - 8, 0, "end: logits", "end", bold=True)
    written = [_short(row) for row in table]
    cells = drawing.grid(left, 16, written, lambda r, c: "read" if r == token else "", cell=(side, high))
    for r, (word, row) in enumerate(zip(words, cells, strict=True)):
        middle = row[0].left[1]
        drawing.text(left - 8, middle, word, "end")
        drawing.text(times, middle, f"· {_vector(final)} =", "middle")
        drawing.box(out, row[0].y, _short(logits)[r], "write", w=52, h=high - 2)
    middle = cells[token][0].left[1]
    ask = drawing.box(0, cells[token][0].y, f"id {token}", w=50, h=high - 2)
    drawing.arrow(ask, (left - 12 - text_width(words[token]), middle))
    # The row goes down into the sum, and the sum goes up to the table.
    bottom = 16 + rows * high
    low = bottom + 44
    parts = {"embedding": table[token], **added, "sum": final}
    boxes = []
    for number, (name, vector) in enumerate(parts.items()):
        role = ("read", "", "", "kept")[number]
        boxes.append(drawing.box(4 + number * 100, low, _vector(vector), role, w=70))
        drawing.text(boxes[-1].bottom[0], low + 40, name, "middle")
        if number:
            drawing.text(number * 100 - 11, boxes[-1].left[1], "=" if name == "sum" else "+", "middle")
    turn = right + 10
    drawing.arrow(
        (right - 2, middle), boxes[0], "read", via=[(turn, middle), (turn, low - 22), (boxes[0].top[0], low - 22)]
    )
    drawing.arrow(boxes[-1], (times, bottom), "kept", via=[(boxes[-1].top[0], low - 22), (times, low - 22)])
    return drawing


def parameter_bars(models: Mapping[str, nn.Module], parts: Mapping[str, str]) -> Drawing:
    """Where the parameters of models are, in percent: a bar for each model, with the parts in the same order.

    Args:
        models: name to model; it may be on the meta device.
        parts: name of a part to what the names of its parameters contain, one to three; a parameter belongs to the
            last part that fits, so the first may be the empty text, for all the others.

    Raises:
        ValueError: no models, other numbers of parts, or a parameter that belongs to none.
    """
    if not models or not 1 <= len(parts) <= 3:
        raise ValueError("bars need a model, and one to three parts")
    roles = dict(zip(parts, ("write", "read", "kept"), strict=False))
    said, rows = [], {}
    for model, module in models.items():
        counts = dict.fromkeys(parts, 0)
        for name, parameter in module.named_parameters():
            fits = [part for part, word in parts.items() if word in name]
            if not fits:
                raise ValueError(f"{name} of {model} belongs to no part")
            counts[fits[-1]] += parameter.numel()
        share = {part: 100 * count / sum(counts.values()) for part, count in counts.items()}
        said.append(f"{model}: {', '.join(f'{part} {one:.0f} %' for part, one in share.items())}")
        rows[model] = [Part(one, f"{one:.0f} %", roles[part]) for part, one in share.items()]
    drawing = Drawing("Where the parameters are", "; ".join(said) + ".")
    drawing.lanes(0, 0, rows, w=WIDTH - 8)
    drawing.legend(0, 32 * len(rows) + 18, {role: part for part, role in roles.items()})
    return drawing


def head_sharing(queries: int, keys: int) -> Drawing:
    """Which query heads read which pair of keys and values.

    Args:
        queries: number of query heads.
        keys: number of heads of keys and values, a divisor of `queries`.

    Raises:
        ValueError: it is no divisor, or there are more query heads than a phone shows.
    """
    if queries < 1 or queries > 12 or keys < 1 or queries % keys:
        raise ValueError(f"{keys} heads of keys and values do not divide {queries} query heads, 12 at most")
    kind = "multi-head" if keys == queries else "multi-query" if keys == 1 else "grouped-query"
    group = queries // keys
    drawing = Drawing(
        f"{kind} attention",
        f"{queries} query heads share {keys} heads of keys and values: {group} of them read each.",
    )
    step = 31.0
    drawing.text(0, 0, f"{kind}: {queries} heads of queries, {keys} of keys", bold=True)
    row = drawing.grid(0, 24, [[f"q{i}" for i in range(queries)]], lambda r, c: "read", cell=(step, 28))[0]
    for k in range(keys):
        mine = row[k * group : (k + 1) * group]
        middle = (mine[0].x + mine[-1].x + mine[-1].w) / 2
        below = drawing.box(middle - 14, 100, f"k{k}\nv{k}", "kept", w=28, h=2 * LINE + 8)
        for box in mine:
            drawing.arrow((box.bottom[0], box.y + box.h), (below.top[0], below.y))
    return drawing


def turns(cos: Tensor, sin: Tensor, pairs: Sequence[int]) -> Drawing:
    """How rotary positions turn pairs of channels: a dial for each pair, a hand for each position.

    Args:
        cos: (positions, channels) as the model has it.
        sin: the same.
        pairs: first channels of two or three pairs.

    Raises:
        ValueError: the tables differ in shape, or there are other numbers of pairs, or more than 8 positions.
    """
    if cos.shape != sin.shape or cos.dim() != 2 or len(pairs) not in (2, 3) or len(cos) > 8:
        raise ValueError("two or three pairs of channels, at 8 positions at most, can be drawn from equal tables")
    angle = torch.atan2(sin, cos)
    drawing = Drawing(
        "How far each position turns a pair",
        "; ".join(
            f"the pair of channel {pair} is turned by {float(angle[1, pair]):.3g} radians from one position to the next"
            for pair in pairs
        )
        + ".",
    )
    r = WIDTH / len(pairs) / 2 - 24
    for number, pair in enumerate(pairs):
        x, y = (2 * number + 1) * WIDTH / len(pairs) / 2, r + 44
        drawing.text(x, 0, f"channel {pair}:", "middle", bold=True)
        drawing.text(x, 18, f"{float(angle[1, pair]):.2g} a token", "middle")
        drawing.circle(x, y, r)
        last = -1.0  # where the last label stands
        for position in range(len(cos)):
            c, s = float(cos[position, pair]), float(sin[position, pair])
            drawing.arrow((x, y), (x + r * c, y - r * s), "read" if position else "kept")
            way = position * float(angle[1, pair])
            if way - last > 0.3:
                last = way
                drawing.text(x + (r + 11) * c, y - (r + 11) * s, str(position), "middle")
    drawing.legend(0, 2 * r + 74, {"kept": "position 0", "read": "later positions"})
    return drawing


def turned_together(query: Point, key: Point, places: Sequence[tuple[int, int]]) -> Drawing:
    """A query and a key of two channels, each turned by one radian a position: the angle between them, in each case.

    Args:
        query: its two channels.
        key: its two channels.
        places: two or three pairs of positions, of the query and of the key.

    Raises:
        ValueError: there are other numbers of pairs.
    """
    if len(places) not in (2, 3):
        raise ValueError(f"two or three pairs of positions can be drawn, not {len(places)}")
    apart = {(m, n): math.cos(_angle(query) + m - _angle(key) - n) for m, n in places}
    drawing = Drawing(
        "A query and a key, turned by their positions",
        "; ".join(
            f"with the query at {m} and the key at {n}, the cosine of the angle between them is {cosine:.2f}"
            for (m, n), cosine in apart.items()
        )
        + ".",
    )
    longest = max(math.hypot(*query), math.hypot(*key))
    r = WIDTH / len(places) / 2 - 24
    for number, (m, n) in enumerate(places):
        x, y = (2 * number + 1) * WIDTH / len(places) / 2, r + 44
        drawing.text(x, 0, f"query at {m},", "middle", bold=True)
        drawing.text(x, 18, f"key at {n}", "middle", bold=True)
        drawing.circle(x, y, r)
        for vector, position, name, role in ((query, m, "q", "read"), (key, n, "k", "write")):
            length, angle = r * math.hypot(*vector) / longest, _angle(vector) + position
            drawing.arrow((x, y), (x + length * math.cos(angle), y - length * math.sin(angle)), role)
            drawing.text(x + (r + 11) * math.cos(angle), y - (r + 11) * math.sin(angle), name, "middle")
    drawing.legend(0, 2 * r + 74, {"read": "query", "write": "key"})
    return drawing


def _angle(vector: Point) -> float:
    return math.atan2(vector[1], vector[0])


def mask_grid(allowed: Tensor, names: Sequence[str]) -> Drawing:
    """Which positions a query may read, row by row, from a boolean mask.

    Args:
        allowed: (queries, keys), true where the query may read the key.
        names: of the positions, one a row and a column.

    Raises:
        ValueError: it is not square, or `names` has another length.
    """
    n = len(names)
    if allowed.shape != (n, n):
        raise ValueError(f"a mask of shape {tuple(allowed.shape)} does not fit {n} names")
    can = [[bool(one) for one in row] for row in allowed.tolist()]
    said = [f"{names[r]} reads {', '.join(names[c] for c in range(n) if can[r][c]) or 'nothing'}" for r in range(n)]
    drawing = Drawing("What each query may read", "; ".join(said) + ".")
    side, left = 28.0, 60.0
    for c, name in enumerate(names):
        drawing.text(left + side * c + side / 2 - 1, 0, name, "middle")
    for r, name in enumerate(names):
        drawing.text(left - 8, 14 + side * r + side / 2, name, "end")
    drawing.grid(left, 14, [[""] * n] * n, lambda r, c: "read" if can[r][c] else "absent", cell=(side, side))
    drawing.legend(0, 14 + side * n + 14, {"read": "may be read", "absent": "hidden"})
    return drawing


def lora_layer(outputs: int, inputs: int, rank: int) -> Drawing:
    """A frozen weight beside the two thin matrices that LoRA trains, with what each counts.

    Args:
        outputs: rows of the weight.
        inputs: its columns.
        rank: of the update.

    Raises:
        ValueError: a size is not positive.
    """
    if min(outputs, inputs, rank) < 1:
        raise ValueError("sizes and rank are positive")
    whole, thin = outputs * inputs, rank * (outputs + inputs)
    drawing = Drawing(
        f"LoRA of rank {rank}",
        f"W, {outputs} by {inputs}, is frozen: {whole:,} numbers. Beside it B, {outputs} by {rank}, and A, {rank} by "
        f"{inputs}, are trained: {thin:,} numbers, {thin / whole:.1%}. Their product is added to W.",
    )
    high = 130.0 * outputs / max(outputs, inputs)
    wide = 130.0 * inputs / max(outputs, inputs)
    drawing.box(0, 20, "W, frozen", "kept", w=wide, h=high)
    drawing.text(0, 4, f"{outputs} × {inputs}")
    drawing.text(wide + 12, 20 + high / 2, "+", "middle", bold=True)
    left = wide + 28
    drawing.box(left, 20, "B", "write", w=26, h=high)
    drawing.text(left, 4, f"{outputs} × {rank}")
    a = drawing.box(left + 44, 20 + high / 2 - 13, "A", "write", w=wide, h=26)
    drawing.text(a.x, a.y - 14, f"{rank} × {inputs}")
    y = 20 + high + 22
    drawing.text(0, y, f"{whole:,}")
    drawing.text(left, y, f"{thin:,}, or {thin / whole:.1%} of it")
    drawing.legend(0, y + 28, {"kept": "stays as it is", "write": "gets gradients"})
    return drawing
