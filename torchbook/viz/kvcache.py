"""KVCacheExplorer: what a cache of keys and values saves and costs, and the formulas as functions.

Sizes are bytes, 1 GB is 10**9 of them. FLOPs are counted as `torch.utils.flop_counter` counts them: two for each
multiply-add of a matrix product, nothing for norms, activations, rotations and look-ups; attention counts all products
of queries and keys, also those that the causal mask throws away. A *row* is one key or one value: the `head_dim`
numbers that a position has in one head of keys and values of one layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from html import escape
from typing import Any

import traitlets

from torchbook.viz.base import Visualizer, contract, defaults, named, preset_of
from torchbook.viz.memory import Model, parameters
from torchbook.viz.units import amount, count, counted, plural, prefixed, several, significant

setup = partial(contract, "kvcache")

# One sequence


def shape_of(config: Any) -> Model:
    """The shape of a `torchbook.llm.Config`, for the functions of this module.

    `parameters` of it is exact where the parts are those of GPT-2 (LayerNorm, biases, learned positions) or of Llama;
    everything else here needs the sizes only.
    """
    return Model(
        layers=config.layers,
        hidden=config.width,
        heads=config.heads,
        kv_heads=config.heads if config.kv_heads is None else config.kv_heads,
        ffn=config.inner,
        vocab=config.vocab_size,
        positions=config.context if config.positions == "learned" else 0,
        family="gpt" if config.mlp == "gelu" else "llama",
        tied=config.tied,
    )


def cache_positions(prompt: int, new_tokens: int) -> int:
    """Positions that the cache holds after `new_tokens` tokens were generated: the last of them is never fed back."""
    return prompt + new_tokens - 1


def kv_rows(positions: int, *, layers: int, kv_heads: int) -> int:
    """Rows, keys and values together, of so many positions."""
    return 2 * layers * kv_heads * positions


def cache_bytes(
    positions: int, *, layers: int, kv_heads: int, head_dim: int, bytes_per_value: int = 2, sequences: int = 1
) -> int:
    """Bytes of a cache: 2 (keys and values) x layers x kv_heads x head_dim x positions x bytes of a number.

    Args:
        positions: positions that are kept of each sequence.
        layers, kv_heads, head_dim: sizes of the model.
        bytes_per_value: 2 for bf16.
        sequences: sequences of that length.

    Example:
        >>> cache_bytes(4096, layers=32, kv_heads=32, head_dim=128)  # Llama 2 7B
        2147483648
    """
    return kv_rows(positions, layers=layers, kv_heads=kv_heads) * head_dim * bytes_per_value * sequences


def attention_macs(new: int, total: int, *, layers: int, heads: int, head_dim: int) -> int:
    """Multiply-adds of attention, scores and weighted sum, when `new` queries meet `total` keys each.

    Heads of queries count, not those of keys and values: sharing these saves memory, not multiplications. All
    new x total products count; a kernel that skips what a causal mask hides does fewer.
    """
    return 2 * layers * heads * head_dim * new * total


def forward_flops(
    model: Model, new: int, total: int | None = None, *, sequences: int = 1, logits: int | None = None
) -> int:
    """FLOPs of one forward call, as `FlopCounterMode` counts them.

    Args:
        model: the shape.
        new: tokens of each sequence that go through the model, T.
        total: positions that they attend to, S, those in the cache included; `new` if there is no cache.
        sequences: sequences in the batch.
        logits: positions for which logits are computed; all `new` ones if not given.
    """
    width, kv = model.hidden, int(model.kv_width)
    matrices = 2 * width * (width + kv) + (2 if model.family == "gpt" else 3) * width * model.ffn
    head = width * model.vocab * (new if logits is None else logits)
    attention = attention_macs(new, new if total is None else total, layers=model.layers, heads=1, head_dim=width)
    return 2 * sequences * (model.layers * matrices * new + attention + head)


@dataclass(frozen=True)
class Work:
    """One step of generating a sequence: a forward call that gives one new token.

    Attributes:
        step: number of the step, from 0.
        phase: "prefill" or "decode".
        new: positions that go through the model.
        total: positions that attention sees.
        computed: rows of keys and values that are computed.
        read: rows that are read from the cache.
        macs: multiply-adds of attention.
        flops: FLOPs of the whole model.
        kept: positions in the cache afterwards.
    """

    step: int
    phase: str
    new: int
    total: int
    computed: int
    read: int
    macs: int
    flops: int
    kept: int


def generation(model: Model, prompt: int, new_tokens: int, *, cached: bool) -> list[Work]:
    """The steps that generate `new_tokens` tokens after a prompt of `prompt` tokens, with a cache or without.

    Example:
        >>> model = Model(layers=4, hidden=128, heads=4, kv_heads=4, ffn=512, vocab=65, family="gpt")
        >>> [step.new for step in generation(model, 6, 4, cached=True)]
        [6, 1, 1, 1]
        >>> [step.new for step in generation(model, 6, 4, cached=False)]
        [6, 7, 8, 9]
    """
    head_dim = model.hidden // model.heads
    steps = []
    for step in range(new_tokens):
        total = prompt + step
        new = total if step == 0 or not cached else 1
        rows = kv_rows(1, layers=model.layers, kv_heads=model.kv_heads)
        macs = attention_macs(new, total, layers=model.layers, heads=model.heads, head_dim=head_dim)
        flops = forward_flops(model, new, total)
        phase = "decode" if step else "prefill"
        steps.append(
            Work(step, phase, new, total, rows * new, rows * (total - new), macs, flops, total if cached else 0)
        )
    return steps


def sequences_that_fit(memory: float, weights: float, each: float) -> int:
    """Sequences whose caches of `each` bytes fit beside the weights; all three in bytes."""
    return max(0, int((memory - weights) // each))


# Many sequences


def pages_needed(positions: int, page: int) -> int:
    """Pages of `page` positions that hold so many positions."""
    return -(-positions // page)


def padded_positions(requests: Sequence[Sequence[int]]) -> int:
    """Positions that a left-padded batch of requests (prompt, new tokens) keeps until the last one is done."""
    prompt, new = (max(request[i] for request in requests) for i in range(2))
    return len(requests) * cache_positions(prompt, new)


@dataclass(frozen=True)
class Running:
    """A sequence that is being generated.

    Attributes:
        request: its number.
        positions: positions that it keeps.
        generated: tokens that it has generated.
        pages: its block table: the pages that hold its positions, in order.
        done: whether its last token was generated in this step; its pages return in the next one.
    """

    request: int
    positions: int
    generated: int
    pages: tuple[int, ...]
    done: bool


@dataclass(frozen=True)
class Moment:
    """The pool after a step of all running sequences.

    Attributes:
        running: the sequences, in the order in which they were admitted.
        waiting: numbers of those that wait, the next one first.
        ended: numbers of those whose pages returned at the beginning of this step.
        started: numbers of those that were admitted and prefilled.
        evicted: numbers of those that had to give their pages back in favour of an older one.
        used: positions that are kept.
        held: positions for which there is room in the pages that are held.
        pages: pages that are held.
    """

    running: tuple[Running, ...]
    waiting: tuple[int, ...]
    ended: tuple[int, ...]
    started: tuple[int, ...]
    evicted: tuple[int, ...]
    used: int
    held: int
    pages: int


class _Sequence:
    def __init__(self, number: int, prompt: int, new: int) -> None:
        self.number, self.prompt, self.new = number, prompt, new
        self.generated = self.positions = 0
        self.pages: list[int] = []


def _numbers(sequences: Sequence[_Sequence]) -> tuple[int, ...]:
    return tuple(sequence.number for sequence in sequences)


def serve(requests: Sequence[Sequence[int]], page: int, capacity: int) -> list[Moment]:
    """Continuous batching on a pool of pages, step by step until all requests are done.

    In a step the pages of what ended return; every running sequence grows by a position, and by a page where its last
    one is full; then those that wait are admitted in order while their tokens so far fit. Where a sequence must grow
    and no page is free, the one admitted last gives its pages back, waits before all others, and is computed again.
    Contiguous reservations of n positions are pages of n positions: one for each sequence.

    Args:
        requests: (prompt, new tokens) of each, in the order in which they came.
        page: positions in a page.
        capacity: pages in the pool.

    Raises:
        ValueError: a request would not fit alone.

    Example:
        >>> [moment.pages for moment in serve([(3, 3), (4, 1)], page=2, capacity=4)]
        [4, 2, 3]
    """
    for prompt, new in requests:
        if min(prompt, new) < 1 or pages_needed(cache_positions(prompt, new), page) > capacity:
            raise ValueError(f"a request of {prompt} and {new} tokens does not fit in {capacity} pages of {page}")
    waiting = [_Sequence(number, prompt, new) for number, (prompt, new) in enumerate(requests)]
    running: list[_Sequence] = []
    free = list(range(capacity))
    moments = []

    def release(holder: _Sequence) -> None:
        running.remove(holder)
        for number in holder.pages:
            heappush(free, number)
        holder.pages = []

    heapify(free)
    while waiting or any(sequence.generated < sequence.new for sequence in running):
        ended = [sequence for sequence in running if sequence.generated == sequence.new]
        for sequence in ended:
            release(sequence)
        evicted: list[_Sequence] = []
        for sequence in list(running):
            if sequence in evicted:
                continue
            while sequence.positions == len(sequence.pages) * page and not free and sequence not in evicted:
                evicted.append(running[-1])
                release(running[-1])
            if sequence in evicted:
                continue
            if sequence.positions == len(sequence.pages) * page:
                sequence.pages.append(heappop(free))
            sequence.positions += 1
            sequence.generated += 1
        for sequence in evicted:
            waiting.insert(0, sequence)
        started: list[_Sequence] = []
        while not evicted and waiting:
            sequence = waiting[0]
            # What was generated before an eviction is known, and prefilled.
            length = sequence.prompt + sequence.generated
            if pages_needed(length, page) > len(free):
                break
            sequence.pages = [heappop(free) for _ in range(pages_needed(length, page))]
            sequence.positions = length
            sequence.generated += 1
            running.append(waiting.pop(0))
            started.append(sequence)
        now = tuple(
            Running(
                sequence.number,
                sequence.positions,
                sequence.generated,
                tuple(sequence.pages),
                sequence.generated == sequence.new,
            )
            for sequence in running
        )
        pages = sum(len(sequence.pages) for sequence in running)
        moments.append(
            Moment(
                now,
                _numbers(waiting),
                _numbers(ended),
                _numbers(started),
                _numbers(evicted),
                used=sum(sequence.positions for sequence in running),
                held=pages * page,
                pages=pages,
            )
        )
    return moments


@dataclass(frozen=True)
class Summary:
    """A whole run of `serve`.

    Attributes:
        steps: its steps.
        most: most sequences that ran at once.
        used: share of the held positions that were used, over all steps.
        evicted: how many times a sequence had to give its pages back.
    """

    steps: int
    most: int
    used: float
    evicted: int


def summary(moments: Sequence[Moment]) -> Summary:
    """What a run of `serve` comes to."""
    used = sum(moment.used for moment in moments) / sum(moment.held for moment in moments)
    most = max(len(moment.running) for moment in moments)
    return Summary(len(moments), most, used, sum(len(moment.evicted) for moment in moments))


# The figure


class KVCacheExplorer(Visualizer):
    """Generating with and without a cache of keys and values, the cache's memory, and pages that sequences share.

    Args:
        prompt: the tokens of the prompt, at most 16, as text; a string is split at spaces.
        model: a published model, or "small", whose sizes are taken: "gpt2", "llama-2-7b", "llama-3-8b" or
            "llama-3-70b"; other arguments change them.
        step: step of the generation that is shown, from 0.
        moment: step of the pool that is shown, from 0.
        requests: (prompt, new tokens) of the sequences that share the pages, at most 8.
        reply: the generated tokens as text, if known.

    Attributes:
        shape: the model's sizes for the functions of this module.

    Raises:
        ValueError: there is no such preset or model.
        traitlets.TraitError: a number is out of its range, or numbers do not fit each other.

    Example:
        >>> explorer = KVCacheExplorer(prompt="to be or not", new_tokens=3)
        >>> [step.kept for step in generation(explorer.shape, 4, 3, cached=True)]
        [4, 5, 6]
    """

    prompt: Any = traitlets.List(traitlets.Unicode(), help="Tokens of the prompt.").tag(sync=True)
    reply: Any = traitlets.List(traitlets.Unicode(), help="Tokens that are generated.").tag(sync=True)
    requests: Any = traitlets.List(help="Prompt and new tokens of each sequence.").tag(sync=True)
    step = traitlets.Int(0, help="Step of the generation.").tag(sync=True)
    moment = traitlets.Int(0, help="Step of the pool.").tag(sync=True)

    def __init__(self, *, preset: str | None = None, model: str | None = None, **traits: Any) -> None:
        initial = defaults(setup()) if preset is None else preset_of(setup(), preset)
        if model is not None:
            initial |= named(setup()["models"], model, "model")["shape"]
        if "heads" in traits and "kv_heads" not in traits:
            initial["kv_heads"] = traits["heads"]
        if {"heads", "head_dim"} & set(traits) and "hidden" not in traits:
            initial["hidden"] = 4 * traits.get("heads", initial["heads"]) * traits.get("head_dim", initial["head_dim"])
        prompt = traits.get("prompt", setup()["prompt"])
        traits["prompt"] = prompt.split() if isinstance(prompt, str) else [str(token) for token in prompt]
        traits["requests"] = [[int(x) for x in request] for request in traits.get("requests", setup()["requests"])]
        super().__init__(**{**initial, **traits})

    @property
    def setting(self) -> dict[str, Any]:
        """What the reader changes."""
        return {**super().setting, "prompt": self.prompt, "requests": self.requests}

    @property
    def shape(self) -> Model:
        return _shape(self.setting)

    @traitlets.validate("prompt", "requests")
    def _check_lists(self, proposal: Any) -> Any:
        name, value = proposal["trait"].name, proposal["value"]
        most = setup()["longest"] if name == "prompt" else setup()["most"]
        if not 1 <= len(value) <= most:
            raise traitlets.TraitError(f"{name} must have 1 to {most} elements, not {len(value)}")
        return self._possible(proposal)

    @traitlets.validate("heads", "kv_heads", "page", "capacity", "reserve")
    def _possible(self, proposal: Any) -> Any:
        if problem := mismatch({**self.setting, proposal["trait"].name: proposal["value"]}):
            raise traitlets.TraitError(problem)
        return proposal["value"]

    @traitlets.validate("step", "moment")
    def _check_step(self, proposal: Any) -> Any:
        return max(0, proposal["value"])

    def _describe(self) -> str:
        return describe(self.setting, self.step, self.moment)

    def _draw(self) -> str:
        return _picture({**self.setting, "reply": self.reply}, self.step, self.moment, self.words)


def mismatch(setting: Mapping[str, Any]) -> str:
    """What does not fit together in a setting; empty when all does."""
    if setting["kv_heads"] < 1 or setting["heads"] % setting["kv_heads"]:
        return f"{setting['heads']} heads cannot share {setting['kv_heads']} heads of keys and values equally"
    longest = max((cache_positions(*request) for request in setting["requests"]), default=1)
    if setting["reserve"] < longest:
        return f"the longest sequence needs {longest} positions, but reserve is {setting['reserve']}"
    page, capacity, reserve = (setting[name] for name in ("page", "capacity", "reserve"))
    if page * capacity < reserve:
        return f"{capacity} pages of {page} hold {page * capacity} positions, but reserve is {reserve}"
    return ""


def _shape(setting: Mapping[str, Any]) -> Model:
    return Model(
        layers=setting["layers"],
        hidden=setting["heads"] * setting["head_dim"],
        heads=setting["heads"],
        kv_heads=setting["kv_heads"],
        ffn=setting["hidden"],
        vocab=setting["vocab"],
        positions=setting["context"],
        family=setting["family"],
        tied=setting["tied"],
    )


@dataclass(frozen=True)
class Room:
    """How much of a memory weights and caches take.

    Attributes:
        parameters: number of them.
        weights: their bytes.
        position: bytes of one position's keys and values.
        each: bytes of one sequence's cache.
        left: bytes beside the weights, below 0 where they do not fit.
        fit: sequences that fit there.
    """

    parameters: int
    weights: float
    position: int
    each: int
    left: float
    fit: int


def room(setting: Mapping[str, Any], kv_heads: int | None = None) -> Room:
    """The memory of a setting, a mapping with the traits of `KVCacheExplorer`; `kv_heads` of it may be others.

    The weights are those of the setting also then: with other heads of keys and values the model has a few more or
    fewer, which is not what is compared.
    """
    total = int(parameters(_shape(setting)).total)
    weights = total * setting["weight_bytes"]
    position = cache_bytes(
        1,
        layers=setting["layers"],
        kv_heads=setting["kv_heads"] if kv_heads is None else kv_heads,
        head_dim=setting["head_dim"],
        bytes_per_value=setting["bytes_per_value"],
    )
    each = position * setting["length"]
    memory = setting["memory_gb"] * 1e9
    return Room(total, weights, position, each, memory - weights, sequences_that_fit(memory, weights, each))


def pools(setting: Mapping[str, Any]) -> tuple[list[Moment], list[Moment]]:
    """The requests of a setting served from pages, and from contiguous reservations in the same memory."""
    places = setting["page"] * setting["capacity"]
    paged = serve(setting["requests"], setting["page"], setting["capacity"])
    return paged, serve(setting["requests"], setting["reserve"], places // setting["reserve"])


# Words


def letter(request: int) -> str:
    """The name of a sequence."""
    return chr(65 + request)


def name_of(setting: Mapping[str, Any]) -> str:
    """The model of these sizes, or its sizes; heads of keys and values may differ from those published."""
    for model in setup()["models"].values():
        if all(value == setting[name] for name, value in model["shape"].items() if name != "kv_heads"):
            return str(model["label"])
    n = setting["layers"]
    return f"{counted(n, 'layer')} of width {setting['heads'] * setting['head_dim']}"


def sharing(setting: Mapping[str, Any]) -> str:
    """How query heads share keys and values, in words."""
    heads, kv = setting["heads"], setting["kv_heads"]
    kind = "multi-head" if kv == heads else "multi-query" if kv == 1 else "grouped-query"
    return f"{kind} attention, {counted(heads, 'query head')} and {counted(kv, 'KV head')}"


def describe(setting: Mapping[str, Any], step: int, moment: int) -> str:
    """The state in sentences."""
    if setting["view"] == "pages":
        return _describe_pages(setting, moment)
    return _describe_memory(setting) if setting["view"] == "memory" else _describe_steps(setting, step)


def _product(setting: Mapping[str, Any]) -> str:
    n = setting["layers"]
    return (
        f"2 × {counted(n, 'layer')} × {counted(setting['kv_heads'], 'KV head')} × {setting['head_dim']} × "
        f"{setting['bytes_per_value']} B"
    )


def _describe_steps(setting: Mapping[str, Any], step: int) -> str:
    prompt, new = len(setting["prompt"]), setting["new_tokens"]
    at = min(step, new - 1)
    bare, kept = (generation(_shape(setting), prompt, new, cached=cached) for cached in (False, True))
    now, total = kept[at], prompt + at
    if at == 0:
        phase = (
            f"prefill: {counted(total, 'position')} go{'es' * (total == 1)} through the model, with a cache or without"
        )
    else:
        phase = (
            f"decode: without a cache {total} positions go through the model again, with one only the newest, and the "
            f"keys and values of {total - 1} are read"
        )

    def both(field: str) -> list[int]:
        return [sum(getattr(work, field) for work in run[: at + 1]) for run in (bare, kept)]

    rows, macs, flops = both("computed"), both("macs"), both("flops")
    position = room(setting).position
    return (
        f"{name_of(setting)}: {sharing(setting)}. {counted(prompt, 'token')} of prompt and {new} new "
        f"token{plural(new)} take {counted(new, 'step')}. Step {at + 1} of {new}, {phase}. So far: "
        f"{rows[0]:,} rows of keys and values computed without a cache, {rows[1]:,} with one and "
        f"{both('read')[1]:,} read from it; {prefixed(macs[0])} and {prefixed(macs[1])} multiply-adds of attention; "
        f"{prefixed(flops[0], 'FLOP')} and {prefixed(flops[1], 'FLOP')} of the whole model, "
        f"{significant(flops[0] / flops[1])} times as many. The cache holds {counted(now.kept, 'position')} of "
        f"{_product(setting)} = {amount(position)}: {amount(position * now.kept)}."
    )


def _describe_memory(setting: Mapping[str, Any]) -> str:
    own = room(setting)
    mha, mqa = room(setting, setting["heads"]), room(setting, 1)
    if own.left < 0:
        rest = f"The weights do not fit into {amount(setting['memory_gb'] * 1e9)}."
    else:
        rest = (
            f"Of {amount(setting['memory_gb'] * 1e9)} {amount(own.left)} are left: {own.fit:,} such "
            f"sequence{plural(own.fit)} fit{'s' * (own.fit == 1)}. With {setting['heads']} KV heads it would be "
            f"{mha.fit:,}, with one {mqa.fit:,}."
        )
    shared = sharing(setting)
    short = f" But it has only {setting['context']:,} learned positions." * (0 < setting["context"] < setting["length"])
    return (
        f"{name_of(setting)}: {count(own.parameters)} parameters of {setting['weight_bytes']:g} bytes are "
        f"{amount(own.weights)}. {shared[0].upper()}{shared[1:]}: a position costs {_product(setting)} = "
        f"{amount(own.position)}, a sequence of {setting['length']:,} tokens {amount(own.each)}.{short} {rest}"
    )


def _events(now: Moment, before: Moment | None) -> str:
    events = []
    for number in now.ended:
        pages = next(sequence.pages for sequence in before.running if sequence.request == number) if before else ()
        events.append(f"{letter(number)} has ended and returns {counted(len(pages), 'page')}")
    events += [f"{letter(number)} gives its pages back and will be computed again" for number in now.evicted]
    if now.started:
        names = several([letter(number) for number in now.started])
        events.append(f"{names} start{'s' * (len(now.started) == 1)}")
    return f" {', '.join(events)}." if events else ""


def _describe_pages(setting: Mapping[str, Any], moment: int) -> str:
    paged, whole = pools(setting)
    at = min(moment, len(paged) - 1)
    now, then = paged[at], whole[min(at, len(whole) - 1)]
    capacity, page, requests = setting["capacity"], setting["page"], setting["requests"]
    tables = "; ".join(
        f"{letter(sequence.request)} keeps {counted(sequence.positions, 'position')} in "
        f"page{plural(len(sequence.pages))} {', '.join(str(number) for number in sequence.pages)}"
        f"{' and is done' * sequence.done}"
        for sequence in now.running
    )
    names = [letter(number) for number in now.waiting]
    waiting = f" {several(names)} wait{'s' * (len(names) == 1)}." if names else ""
    a, b = summary(paged), summary(whole)
    useful = sum(cache_positions(*request) for request in requests)
    again = f", {a.evicted} computed again" * bool(a.evicted)
    events = _events(now, paged[at - 1] if at else None)
    free = capacity - now.pages
    are = "page is" if free == 1 else "pages are"
    return (
        f"{counted(len(requests), 'sequence')}, {counted(capacity, 'page')} of {page} "
        f"position{plural(page)}. Step {at + 1} of {len(paged)}.{events} Block tables: "
        f"{tables}.{waiting} Of {now.held} positions in {now.pages} held page{plural(now.pages)} {now.used} are used, "
        f"{now.held - now.used} are not; {free} {are} free. "
        f"Reserving {setting['reserve']} positions for each in the "
        f"same memory holds {then.held} in this step and uses {then.used}. The whole run: {a.steps} steps, at most "
        f"{a.most} at once, {significant(100 * a.used)} % of what is held used{again}; with reservations {b.steps} "
        f"steps, {b.most} at once, {significant(100 * b.used)} %. One left-padded batch of all would keep "
        f"{padded_positions(requests)} positions, of which {useful} are tokens."
    )


# Static pictures


def _picture(setting: Mapping[str, Any], step: int, moment: int, words: str) -> str:
    draw = {"steps": _draw_steps, "memory": _draw_memory, "pages": _draw_pages}[setting["view"]]
    parts, width, height = draw(setting, moment if setting["view"] == "pages" else step)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" '
        f'style="max-width:min(100%,{width:g}px);height:auto" font-family="system-ui,sans-serif" '
        f'font-size="12" fill="currentColor" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _draw_steps(setting: Mapping[str, Any], step: int) -> tuple[list[str], float, float]:
    prompt, new = len(setting["prompt"]), setting["new_tokens"]
    at, unit, left, top = min(step, new - 1), 14, 26, 34
    total = cache_positions(prompt, new)
    wide = left + total * unit + 18
    parts = []
    for panel, cached in enumerate((False, True)):
        x0 = panel * wide
        parts.append(
            f'<text x="{x0}" y="12" font-weight="700">{"with a cache" if cached else "without a cache"}</text>'
        )
        parts.append(f'<text x="{x0 + left}" y="28" font-size="10">position 0 to {total - 1}</text>')
        for row in range(new):
            y = top + row * unit
            weight = ' font-weight="700"' * (row == at)
            parts.append(f'<text x="{x0 + left - 6}" y="{y + 11}" text-anchor="end"{weight}>{row + 1}</text>')
            for column in range(prompt + row if row <= at else 0):
                fresh = not cached or row == 0 or column == prompt + row - 1
                x = x0 + left + column * unit
                parts.append(
                    f'<rect x="{x + 1}" y="{y + 1}" width="{unit - 2}" height="{unit - 2}" '
                    f'fill-opacity="{0.75 if fresh else 0}" stroke="currentColor" stroke-width=".8"/>'
                )
                if not fresh:
                    parts.append(f'<circle cx="{x + unit / 2:g}" cy="{y + unit / 2:g}" r="2"/>')
    bottom = top + new * unit + 18
    parts.append(f'<text x="0" y="{bottom}">filled: computed in that step; dot: read from the cache</text>')
    return parts, max(2 * wide, 320), bottom + 6


def _draw_memory(setting: Mapping[str, Any], step: int) -> tuple[list[str], float, float]:
    own = room(setting)
    memory = setting["memory_gb"] * 1e9
    wide = 460.0
    weights = min(1.0, own.weights / memory) * wide
    caches = own.fit * own.each / memory * wide
    parts = [
        f'<text x="0" y="12" font-weight="700">{escape(name_of(setting))} in {amount(memory)}</text>',
        f'<rect x=".5" y="20" width="{wide}" height="24" fill="none" stroke="currentColor"/>',
        f'<rect x=".5" y="20" width="{weights:.1f}" height="24" fill-opacity=".6"/>',
        f'<rect x="{weights + 0.5:.1f}" y="20" width="{caches:.1f}" height="24" fill-opacity=".2"/>',
        f'<text x="0" y="62">weights {amount(own.weights)} (dark), {own.fit:,} caches of {amount(own.each)} '
        "(light)</text>",
    ]
    return parts, wide + 1, 68


def _draw_pages(setting: Mapping[str, Any], moment: int) -> tuple[list[str], float, float]:
    paged, _ = pools(setting)
    now = paged[min(moment, len(paged) - 1)]
    page, unit = setting["page"], 12
    owner = {number: (sequence, i) for sequence in now.running for i, number in enumerate(sequence.pages)}
    wide = max(page * unit, 40) + 12
    columns = max(1, min(setting["capacity"], 520 // wide))
    parts = []
    for number in range(setting["capacity"]):
        x, y = number % columns * wide, number // columns * 44
        sequence, place = owner.get(number, (None, 0))
        parts.append(
            f'<text x="{x}" y="{y + 14}">{number}{f" · {letter(sequence.request)}" if sequence else ""}</text>'
        )
        used = min(page, sequence.positions - place * page) if sequence else 0
        dashes = "" if sequence else ' stroke-dasharray="2 2"'
        parts += [
            f'<rect x="{x + slot * unit + 1}" y="{y + 20}" width="{unit - 2}" height="14" stroke="currentColor" '
            f'fill-opacity="{0.7 if slot < used else 0}"{dashes}/>'
            for slot in range(page)
        ]
    rows = -(-setting["capacity"] // columns)
    parts.append(f'<text x="0" y="{rows * 44 + 14}">filled: used; empty: held and unused; dashed: free</text>')
    return parts, max(columns * wide, 300), rows * 44 + 20
