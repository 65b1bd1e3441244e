"""AttentionExplorer: its numbers against torch on random weights, the page against Python, its code against a model."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
import traitlets

from torchbook.llm import GPT, Config
from torchbook.viz import AttentionExplorer
from torchbook.viz import attention as of

from ..asking import Ask
from ..samples import Look, Sample, Traits, clicking

HARNESS = "language"
PRESETS = sorted(of.setup()["presets"])


def weights(draw: random.Random, layers: int, heads: int, size: int, causal: bool) -> torch.Tensor:
    """From nearly equal to nearly one-hot rows."""
    torch.manual_seed(draw.randrange(10**6))
    scores = torch.randn(layers, heads, size, size, dtype=torch.float64) * 10 ** draw.uniform(-1, 1.5)
    if causal:
        scores.masked_fill_(~torch.ones(size, size).tril().bool(), -torch.inf)
    return scores.softmax(-1)


def cases(count: int, seed: int) -> list[tuple[torch.Tensor, bool]]:
    draw = random.Random(seed)
    pairs = []
    for _ in range(count):
        causal = draw.random() < 0.7
        shape = draw.randint(1, 3), draw.randint(1, 4), draw.randint(2, 30)
        pairs.append((weights(draw, *shape, causal), causal))
    return pairs


def explorer(probs: torch.Tensor, **more: Any) -> AttentionExplorer:
    return AttentionExplorer([chr(97 + i % 26) for i in range(probs.shape[-1])], probs, **more)


# Numbers


def test_rows_are_the_weights_in_255ths() -> None:
    for probs, causal in cases(60, seed=1):
        w = explorer(probs)
        rows = torch.tensor(w.rows, dtype=torch.float64).view(probs.shape)
        assert (rows.sum(-1) == 255).all()
        assert float((rows / 255 - probs).abs().max()) < 1 / 255
        assert not rows[probs == 0].any()
        assert w.seen[0].causal == causal or not rows.triu(1).any()


def test_rows_in_half_precision_do_too() -> None:
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        probs = torch.randn(2, 2, 48, 48).softmax(-1).to(dtype)
        rows = torch.tensor(explorer(probs).rows)
        assert (rows.sum(-1) == 255).all()


def test_page_unpacks_what_was_packed(ask: Ask) -> None:
    every = [explorer(probs) for probs, _ in cases(60, seed=2)]
    asked = [[w.texts[0]["packed"], len(w.tokens), w.seen[0].causal] for w in every]
    for w, page, (packed, size, causal) in zip(every, ask("unpacked", asked), asked, strict=True):
        assert page == w.rows == of.unpacked(packed, size, causal)


def check(rows: list[list[int]], actual: dict[str, float]) -> None:
    """Against torch, on the very weights that are shown."""
    p = torch.tensor(rows, dtype=torch.float64) / 255
    bits = -torch.special.xlogy(p, p).sum(-1) / torch.log(torch.tensor(2.0, dtype=torch.float64))
    wanted = {
        "entropy": bits[1:].mean(),
        "previous": p.diagonal(-1).mean(),
        "first": p[1:, 0].mean(),
        "itself": p.diagonal()[1:].mean(),
    }
    for name, value in wanted.items():
        assert actual[name] == pytest.approx(float(value), abs=1e-12), name


def test_numbers_are_those_of_torch(ask: Ask, examples: int) -> None:
    every = [(rows, probs.flatten(0, 1)[i]) for probs, _ in cases(examples // 40, seed=3)
             for i, rows in enumerate(explorer(probs).rows)]  # fmt: skip
    for (rows, exact), page in zip(every, ask("numbers", [rows for rows, _ in every]), strict=True):
        mine = dataclasses.asdict(of.numbers(rows))
        check(rows, mine)
        check(rows, page)
        for name, value in (("previous", exact.diagonal(-1).mean()), ("itself", exact.diagonal()[1:].mean())):
            assert abs(mine[name] - float(value)) < 1 / 255
        bits = float(torch.distributions.Categorical(probs=exact[1:]).entropy().mean()) / 0.6931471805599453
        assert abs(mine["entropy"] - bits) < 0.15  # what rounding to 255ths costs


def test_presets_are_the_extremes(ask: Ask) -> None:
    every = [explorer(probs).rows for probs, _ in cases(40, seed=4)]
    for preset in PRESETS:
        chosen = [of.find(heads, preset) for heads in every]
        assert ask("find", [[heads, preset] for heads in every]) == chosen
        for heads, at in zip(every, chosen, strict=True):
            name = {"sharp": "entropy", "broad": "entropy"}.get(preset, preset)
            values = [getattr(of.numbers(rows), name) for rows in heads]
            assert values[at] == (min if preset == "sharp" else max)(values)


def at_home(rows: list[of.Rows], preset: str) -> tuple[int, int]:
    """The head to which a preset leads, and the query, which does what the preset names the most."""
    head = of.find(rows, preset)
    does: Callable[[list[int], int], float] = {
        "previous": lambda row, i: row[i - 1],
        "first": lambda row, i: row[0],
        "itself": lambda row, i: row[i],
        "sharp": lambda row, i: -of.entropy(row),
        "broad": lambda row, i: of.entropy(row),
    }[preset]
    values = {i: does(row, i) for i, row in enumerate(rows[head]) if i >= 2}
    return head, max(values, key=lambda i: values[i])


def test_presets_lead_to_the_query_that_does_what_they_name(ask: Ask) -> None:
    every = [explorer(probs).rows for probs, _ in cases(40, seed=6) if probs.shape[-1] > 2]
    assert every
    for preset in PRESETS:
        homes = ask("home", [[heads, preset] for heads in every])
        assert [(home["at"], home["query"]) for home in homes] == [at_home(heads, preset) for heads in every]


def test_cells_are_drawn_as_dark_as_their_weight(ask: Ask) -> None:
    every = [rows for probs, _ in cases(30, seed=5) for rows in explorer(probs).rows]
    for rows, page in zip(every, ask("paths", every), strict=True):
        assert [tuple(path) for path in page] == of.paths(rows)
        seen: dict[tuple[int, int], int] = {}
        for level, d in of.paths(rows):
            for part in d.split("M")[1:]:
                x, rest = part.split(" ")
                y, wide = rest.split("v")[0].split("h")
                seen |= {(int(y), int(x) + i): level for i in range(int(wide))}
        for i, line in enumerate(rows):
            for j, x in enumerate(line):
                assert seen.get((i, j), 0) == (max(1, round(8 * (x / 255) ** 0.5)) if x else 0)


# The page


def state(w: AttentionExplorer) -> dict[str, int]:
    return {name: getattr(w, name) for name in ("text", "layer", "head", "query", "key")}


Vectors = tuple[torch.Tensor, torch.Tensor, torch.Tensor]


def vectors(shape: tuple[int, ...], seed: int, scale: float = 1.0) -> Vectors:
    """Queries, keys and values of (layers, heads, T, D)."""
    generator = torch.Generator().manual_seed(seed)
    q, k, v = (torch.randn(*shape, generator=generator) for _ in range(3))
    return scale * q, k, v


def of_vectors(given: Vectors, causal: bool = True, root: float | None = None) -> torch.Tensor:
    """The weights, by PyTorch's own attention: it gives them as the mean of unit vectors."""
    q, k, _ = given
    size = q.shape[-2]
    unit = torch.eye(size).expand(*q.shape[:2], size, size)
    return torch.nn.functional.scaled_dot_product_attention(q, k, unit, is_causal=causal, scale=root)


def with_vectors(seed: int, shape: tuple[int, ...] = (2, 3, 9, 8), causal: bool = True, **more: Any) -> Any:
    given = vectors(shape, seed, scale=1 + seed % 4)
    return explorer(of_vectors(given, causal), vectors=given, **more), given


# One weight as it is computed


def test_scores_are_those_of_torch() -> None:
    for seed in range(20):
        w, (q, k, _) = with_vectors(seed, causal=seed % 3 > 0)
        scores = w.seen[0].scores
        product = (q @ k.mT).flatten(0, 1)
        least = 0.51 * scores.step
        for at, head in enumerate(product.tolist()):
            for i, row in enumerate(head):
                for j, exact in enumerate(row[: i + 1] if seed % 3 else row):
                    assert abs(scores.scaled(at, i, j) - exact / 8**0.5) < least + 1e-5
                    assert abs(scores.product(at, i, j) - exact) < least * 8**0.5 + 1e-5


def test_weights_that_the_vectors_do_not_give_are_refused() -> None:
    given = vectors((1, 2, 6, 4), seed=1, scale=3)
    with pytest.raises(ValueError, match="not the softmax of these queries and keys"):
        explorer(of_vectors(given, root=1.0), vectors=given)
    with pytest.raises(ValueError, match=r"vectors must have the shape \(layers, heads, 6, channels\)"):
        explorer(of_vectors(given), vectors=vectors((1, 2, 5, 4), seed=1))


def test_colours_of_vectors_are_in_fifteen_steps(ask: Ask) -> None:
    w, given = with_vectors(5)
    for at in (0, 4):
        for vector, page in zip(given, ask("strips", [[w.texts[0], at]])[0], strict=True):
            steps = torch.tensor(page)
            exact = 7 * vector.flatten(0, 1)[at] / vector.abs().max()
            assert float((steps - exact).abs().max()) <= 0.5 + 1e-6


def test_what_the_values_are_summed_to_is_what_torch_sums_them_to(ask: Ask) -> None:
    w, (q, k, v) = with_vectors(6)
    out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True).flatten(0, 1)
    for at, query in ((0, 8), (3, 4), (5, 0)):
        (page,) = ask("mixed", [[w.texts[0], at, query]])
        exact = 7 * out[at, query] / v.abs().max()
        assert float((torch.tensor(page) - exact).abs().max()) < 0.6


def test_words_tell_how_a_weight_is_computed() -> None:
    w, (q, k, _) = with_vectors(7, query=6, key=2, layer=1, head=1)
    product = float(q[1, 1, 6] @ k[1, 1, 2])
    weight = float(of_vectors((q, k, q))[1, 1, 6, 2])
    assert f"Key 2 “c”: q · k is {of.fixed(product, 1)}, over √8 it is {of.fixed(product / 8**0.5, 2)}, " in w.words
    assert f"makes {weight:.2f} of it." in w.words
    w.key = 7
    assert w.words.endswith("Key 7 “h” is later than the query: masked, its weight is 0.")
    w.key = -1
    assert f"Key {of.strongest(w.rows[4][6])} “" in w.words


def test_words_tell_what_may_come_next() -> None:
    likely = [[("x", 0.75), (" ", 0.2)]] * 3
    w = explorer(torch.eye(3)[None, None], likely=likely)
    assert w.words.endswith("Likeliest to come next: “x” 0.75, “␣” 0.20.")
    with pytest.raises(ValueError, match="3 tokens need as many predictions, not 2"):
        explorer(torch.eye(3)[None, None], likely=likely[:2])


def test_another_text_is_another_text() -> None:
    w = explorer(torch.eye(5)[None, None], others=[(["x", "y"], torch.eye(2)[None, None])], query=4)
    assert w.words.startswith("Text 1 of 2. Attention of 5 tokens")
    w.text = 1
    assert w.words.startswith("Text 2 of 2. Attention of 2 tokens")
    assert "query 1 “y”" in w.words
    assert w.tokens == ["x", "y"]
    with pytest.raises(ValueError, match="as many layers and heads"):
        explorer(torch.eye(5)[None, None], others=[(["x", "y"], torch.eye(2).expand(1, 2, 2, 2))])
    with pytest.raises(traitlets.TraitError, match="text must be a whole number from 0 to 1, not 2"):
        w.text = 2


def test_page_says_what_python_says(ask: Ask, examples: int) -> None:
    draw = random.Random(6)
    every = []
    for probs, _ in cases(examples // 40, seed=7):
        layers, heads, size = probs.shape[:3]
        every.append(
            explorer(probs, layer=draw.randrange(layers), head=draw.randrange(heads), query=draw.randrange(size))
        )
    for seed in range(20):
        other = vectors((2, 3, 6, 4), seed)
        w, _ = with_vectors(
            seed, causal=seed % 3 > 0, likely=[[("e", 0.5), ("\n", 0.125)]] * 9, text=seed % 2,
            key=draw.randrange(-1, 9), query=draw.randrange(9), others=[(list("others"), of_vectors(other), other)],
        )  # fmt: skip
        every.append(w)
    asked = [[w.texts[w.text], [w.layers, w.heads], state(w), len(w.texts)] for w in every]
    for w, page in zip(every, ask("attention_words", asked), strict=True):
        assert page == w.words


@pytest.mark.parametrize(
    "parts", [{}, {"positions": "rotary", "norm": "rms", "mlp": "swiglu", "bias": False, "kv_heads": 2}]
)
def test_copied_code_finds_the_row_in_a_model(
    ask: Ask, parts: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    torch.manual_seed(0)
    model = GPT(Config(vocab_size=11, context=24, layers=2, heads=4, width=32, **parts))
    for name, weight in model.named_parameters():  # from the start all weights are nearly equal
        if name.endswith(("query.weight", "key.weight")):
            torch.nn.init.normal_(weight)
    ids = torch.randint(11, (1, 9))
    seen: list[torch.Tensor] = []
    plain = torch.nn.functional.scaled_dot_product_attention

    def spy(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, **options: Any) -> torch.Tensor:
        several = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
        identity = torch.eye(q.shape[2]).expand(1, q.shape[1], -1, -1)
        seen.append(plain(q, several, identity, is_causal=True))
        return plain(q, k, v, **options)

    with pytest.MonkeyPatch.context() as patch, torch.no_grad():
        patch.setattr(torch.nn.functional, "scaled_dot_product_attention", spy)
        model(ids)
    w = explorer(torch.cat(seen), layer=1, head=3, query=5)
    assert w.seen[0].causal
    for query in (5, 8, 0):
        w.query = query
        (code,) = ask("attention_script", [[w.rows, w.seen[0].causal, [w.layers, w.heads], state(w)]])
        names: dict[str, Any] = {"model": model, "ids": ids}
        exec(compile(code, "copied", "exec"), names)
        torch.testing.assert_close(names["row"], seen[1][0, 3, query], rtol=1e-4, atol=1e-5)
        assert "tensor" in capsys.readouterr().out
    names = {"model": model, "ids": ids.flip(1)}
    w.query = 8
    (code,) = ask("attention_script", [[w.rows, w.seen[0].causal, [w.layers, w.heads], state(w)]])
    with pytest.raises(AssertionError):
        exec(compile(code, "copied", "exec"), names)


def test_states_of_links_are_checked(ask: Ask) -> None:
    shape = {"layers": 2, "heads": 3, "sizes": [5, 2]}
    good = [{}, {"layer": 1}, {"layer": 1, "head": 2, "query": 4, "key": -1}, {"text": 1, "query": 1, "key": 1}]
    bad = [None, 3, {"layer": 2}, {"head": 3}, {"query": 5}, {"query": -1}, {"query": 0.5}, {"rows": 1}]
    bad += [{"text": 2}, {"text": 1, "query": 2}, {"text": 1, "key": 2}, {"key": -2}]
    assert ask("attention_state", [[candidate, shape] for candidate in good]) == [True] * len(good)
    assert not any(ask("attention_state", [[candidate, shape] for candidate in bad]))


# The widget


def test_words_and_picture_follow() -> None:
    probs = torch.zeros(2, 2, 4, 4)
    probs[...] = torch.eye(4)
    probs[1, 0] = torch.eye(4).roll(1, 0)
    probs[1, 0, 0] = torch.tensor([1.0, 0, 0, 0])
    w = explorer(probs)
    assert (
        "query 3 “d”: weight 1.00 to 3 “d”; the row sums to 1.00, its entropy is 0.00 of at most 2.00 bits" in w.words
    )
    before = w.picture
    w.layer = 1
    w.query = 2
    assert "query 2 “c”: weight 1.00 to 1 “b”;" in w.words
    assert "previous token 1.00" in w.words
    assert w.picture != before
    assert ElementTree.fromstring(w.picture).get("aria-label") == w.words
    assert w.numbers[1][0] == of.Numbers(entropy=0.0, previous=1.0, first=1 / 3, itself=0.0)


def test_special_tokens_can_be_seen() -> None:
    w = AttentionExplorer([" a", "\n", "<b>&", ""], torch.eye(4)[None, None], query=1)
    assert "“↵”" in w.words
    ElementTree.fromstring(w.picture)


def test_mistakes_are_named() -> None:
    good = torch.eye(3)[None, None]
    with pytest.raises(ValueError, match="3 tokens need weights of shape"):
        AttentionExplorer(["a", "b", "c"], torch.eye(4)[None, None])
    with pytest.raises(ValueError, match="49 tokens; the figure shows 2 to 48"):
        explorer(torch.eye(49)[None, None])
    with pytest.raises(ValueError, match="layer 0, head 0, query 0 sums to 2"):
        explorer(good * 2)
    with pytest.raises(ValueError, match="after the softmax"):
        explorer(torch.tensor([[[[1.5, -0.5], [0.5, 0.5]]]]))
    with pytest.raises(ValueError, match="sums to nan"):
        explorer(good * torch.nan)
    with pytest.raises(ValueError, match=r"take \d+ bytes, more than the 120000 that fit a page"):
        explorer(torch.full((8, 8, 48, 48), 1 / 48))
    w = explorer(good)
    with pytest.raises(traitlets.TraitError, match="query must be a whole number from 0 to 2, not 3"):
        w.query = 3
    with pytest.raises(traitlets.TraitError, match="head must be"):
        explorer(good, head=1)


def test_four_layers_of_four_heads_are_small() -> None:
    assert len(explorer(torch.randn(4, 4, 48, 48).softmax(-1)).texts[0]["packed"]) < 50_000
    tall = torch.ones(48, 48).tril()
    assert len(explorer((tall / tall.sum(-1, keepdim=True)).expand(6, 6, -1, -1)).texts[0]["packed"]) < 60_000


# The figure among all figures


TEXT = "To be or\nnot to be, that"


OTHER = "or not, or not"


def made_up(text: str, layers: int, heads: int, causal: bool) -> of.Text:
    """Queries, keys, values and predictions at random."""
    given = vectors((layers, heads, len(text), 8), seed=len(text), scale=2)
    likely = [[(text[i - j], 0.5 / 2**j) for j in range(5)] for i in range(len(text))]
    return of.Text(list(text), of_vectors(given, causal), given, likely)


def attention_explorer(layers: int = 3, heads: int = 4, causal: bool = True, **traits: Any) -> AttentionExplorer:
    """Two texts, several layers and heads."""
    first, second = (made_up(text, layers, heads, causal) for text in (TEXT, OTHER))
    return AttentionExplorer(*first, others=[second], **traits)


def attention_presets() -> dict[str, Traits]:
    """The head and the query to which each preset leads."""
    rows = attention_explorer().rows
    homes = {name: at_home(rows, name) for name in of.setup()["presets"]}
    return {name: {"layer": at // 4, "head": at % 4, "query": query} for name, (at, query) in homes.items()}


def sample() -> Sample:
    """How the test of all figures takes this one."""
    return Sample(
        make=attention_explorer,
        act=clicking(".at-token", 2), acted={"query": 2},
        presets=attention_presets(), other={"layer": 1, "head": 1, "query": 5, "key": 3},
        linked={"text": 1, "layer": 2, "head": 1, "query": 4, "key": 2}, broken=("=eyJsYXllciI6OX0",),  # layer 9
        looks=(Look({"query": 4}), Look({"heads": 12, "query": 4}), Look({"query": 4, "key": 9})),
        plain=({"layer": 1},), targets="button, input, select",
    )  # fmt: skip
