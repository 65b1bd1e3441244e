import torch

from torchbook.llm import GPT, Config

END = 0


def _model(seed=0, positions="learned"):
    torch.manual_seed(seed)
    net = GPT(Config(vocab_size=11, context=48, layers=2, heads=2, width=16, positions=positions)).eval()
    with torch.no_grad():
        for weight in net.parameters():
            weight.mul_(8)  # as decided as a trained model: no ties
    return net


def _prompts(seed, lengths):
    draw = torch.Generator().manual_seed(seed)
    return [torch.randint(1, 11, (length,), generator=draw) for length in lengths]


def _by_itself(net, prompt, new):
    line = prompt[None]
    for _ in range(new):
        with torch.no_grad():
            line = torch.cat((line, net(line)[:, -1:].argmax(-1)), 1)
        if line[0, -1] == END:
            break
    return line[0, len(prompt) :].tolist()


class _Script(torch.nn.Module):
    """Gives prescribed answers, row by row, and records its inputs."""

    def __init__(self, lines, sizes):
        super().__init__()
        self.lines, self.longest, self.calls = lines, max(sizes), 0
        self.config = Config(vocab_size=11, context=48, layers=1, heads=1, width=2)

    def forward(self, ids, *, positions=None, mask=None, cache=None):
        logits = torch.zeros(*ids.shape, 11)
        for row, line in enumerate(self.lines):
            logits[row, -1, line[min(self.calls, len(line) - 1)]] = 1
        self.calls += 1
        if cache is not None:
            zeros = torch.zeros(len(ids), 1, ids.shape[1], 2)
            cache.update(0, zeros, zeros)
        return logits


def test_pads_left(left_pad):
    rows, real = left_pad([torch.tensor([5, 6, 7]), torch.tensor([8])], 3)
    assert rows.tolist() == [[5, 6, 7], [3, 3, 8]], "padding is on the left, so every row ends with its last token"
    assert real.dtype == torch.bool and real.tolist() == [[True] * 3, [False, False, True]], (
        "the mask is True on the tokens of the prompts and False on padding"
    )


def test_pad_inside_a_prompt(left_pad):
    _, real = left_pad([torch.tensor([3, 5, 3, 3]), torch.tensor([3, 8])], 3)
    assert real.tolist() == [[True] * 4, [False, False, True, True]], (
        "a token of the prompt was treated as padding because it has the same number"
    )


def test_equal_to_alone(decode):
    net, prompts = _model(positions="rotary"), _prompts(1, (3, 9, 5))
    found = decode(net, prompts, 6, END)
    for prompt, answer in zip(prompts, found, strict=True):
        assert list(answer) == _by_itself(net, prompt, 6), (
            f"the prompt of {len(prompt)} tokens does not get the answer that it gets alone: does it see its padding?"
        )


def test_positions(decode):
    net = _model(seed=2)
    for lengths in ((2, 8), (7, 4, 1)):
        prompts = _prompts(len(lengths), lengths)
        found = decode(net, prompts, 6, END)
        right = [list(a) == _by_itself(net, prompt, 6) for prompt, a in zip(prompts, found, strict=True)]
        assert all(right), "with learned positions, an answer changes: count the real tokens of each row, from 0"


def test_ends(decode):
    lines = [[4, END, 7, 7], [5, 6, 2, END], [1, 1, 1, 1, 1, 1]]
    told = decode(_Script(lines, (1, 2, 1)), _prompts(4, (1, 2, 1)), 5, END)
    assert [list(each) for each in told] == [[4, END], [5, 6, 2, END], [1] * 5], (
        "an answer ends after its first end token, which it includes, and has at most `new` tokens"
    )
    assert all(type(token) is int for each in told for token in each), "the answers are lists of plain integers"


def test_stops(decode):
    script = _Script([[4, END], [END]], (2, 1))
    decode(script, _prompts(5, (2, 1)), 9, END)
    assert script.calls == 2, f"all answers had ended after 2 runs of the model, but there were {script.calls}"


def test_hidden_random(decode, seed):
    draw = torch.Generator().manual_seed(seed)
    for case in range(6):
        net = _model(seed + case, "rotary" if case % 2 else "learned")
        lengths = torch.randint(1, 14, (2 + case,), generator=draw).tolist()
        prompts = _prompts(seed + case, lengths)
        prompts[0][0] = END  # a prompt may contain it
        wanted = [_by_itself(net, each, 7) for each in prompts]
        assert [list(each) for each in decode(net, prompts, 7, END)] == wanted, (
            "for a random batch, in which a prompt contains the end token, an answer differs from the one alone"
        )


def test_hidden_left_pad(left_pad, reference, seed):
    lengths = torch.randint(1, 20, (9,), generator=torch.Generator().manual_seed(seed)).tolist()
    given = _prompts(seed, lengths)
    for found, wanted in zip(left_pad(given, 4), reference.left_pad(given, 4), strict=True):
        assert found.dtype == wanted.dtype and found.equal(wanted), "for nine prompts, the ids or the mask are wrong"
