import torch
from torch import nn


class Old(nn.Module):
    def __init__(self, width: int, depth: int, classes: int):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.blocks = nn.ModuleList(nn.Module() for _ in range(depth))
        for block in self.blocks:
            block.qkv = nn.Linear(width, 3 * width)
            block.ff = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))
        self.norm = nn.BatchNorm1d(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (T, 4)
        x = self.embed(x)
        for block in self.blocks:
            q, k, v = block.qkv(x).chunk(3, dim=1)
            x = x + (q @ k.T).softmax(1) @ v
            x = x + block.ff(x)
        return self.head(self.norm(x))


class New(nn.Module):
    def __init__(self, width: int, depth: int, classes: int):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.layers = nn.ModuleList(nn.Module() for _ in range(depth))
        for layer in self.layers:
            layer.q, layer.k, layer.v = (nn.Linear(width, width) for _ in range(3))
            layer.expand, layer.shrink = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm = nn.BatchNorm1d(width)
        self.gain = nn.Parameter(torch.ones(width))
        self.head = nn.Linear(width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # (T, 4)
        x = self.embed(x)
        for layer in self.layers:
            x = x + (layer.q(x) @ layer.k(x).T).softmax(1) @ layer.v(x)
            x = x + layer.shrink(layer.expand(x).relu())
        return self.head(self.gain * self.norm(x))


def migrate(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The state of an `Old`, under the names of a `New`."""
    ### BEGIN SOLUTION
    new = {}
    for name, value in state.items():
        parts = name.removeprefix("module.").split(".")
        if parts[0] == "blocks":
            parts[0] = "layers"
            if parts[2] == "ff":
                parts[2:4] = [{"0": "expand", "2": "shrink"}[parts[3]]]
            elif parts[2] == "qkv":
                for letter, part in zip("qkv", value.chunk(3), strict=True):
                    new[".".join([*parts[:2], letter, *parts[3:]])] = part
                continue
        new[".".join(parts)] = value
    return new
    ### END SOLUTION


def adopt(model: nn.Module, state: dict[str, torch.Tensor]) -> dict[str, list[str]]:
    """Copy what fits; say what was loaded, missing, unexpected, and of another shape."""
    ### BEGIN SOLUTION
    own = model.state_dict()
    both = own.keys() & state.keys()
    fits = {name for name in both if own[name].shape == state[name].shape}
    model.load_state_dict({name: state[name] for name in fits}, strict=False)
    report = {
        "loaded": fits,
        "missing": own.keys() - both,
        "unexpected": state.keys() - both,
        "shape": both - fits,
    }
    return {what: sorted(names) for what, names in report.items()}
    ### END SOLUTION
