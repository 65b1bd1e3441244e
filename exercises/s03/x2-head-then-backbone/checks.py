import copy

import torch
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook


class _Net(nn.Module):
    def __init__(self, width=6, classes=3):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(4, width), nn.BatchNorm1d(width), nn.Tanh())
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.backbone(x))


def _problem(seed=0, width=6):
    """A network that has seen data, and a new task with two classes."""
    torch.manual_seed(seed)
    model = _Net(width).train()
    for _ in range(20):
        model(2 * torch.randn(16, 4) + 1)
    x = torch.randn(24, 4)
    return model, x, (x[:, 0] > x[:, 1]).long()


def _changed(before, module):
    return [name for name, t in module.state_dict().items() if not t.equal(before[name])]


def _buffers(module):
    return [name for name, _ in module.named_buffers()]


def test_original_stays(with_new_head):
    model, _, _ = _problem()
    before, head = copy.deepcopy(model.state_dict()), model.head
    tuned = with_new_head(model, 2)
    assert model.head is head and not _changed(before, model), "the pretrained model was edited: return a copy"
    assert all(p.requires_grad for p in model.parameters()), "the pretrained model was frozen: freeze the copy"
    with torch.no_grad():
        for p in tuned.parameters():
            p.zero_()
    assert not _changed(before, model), "the copy shares its parameters with the pretrained model: copy deeply"


def test_head_fits(with_new_head):
    for width in (6, 9):
        model, x, _ = _problem(width=width)
        tuned = with_new_head(model, 2)
        head = tuned.head
        assert isinstance(head, nn.Linear) and (head.in_features, head.out_features) == (width, 2), (
            "the new head has as many inputs as the old one, whatever they are, and num_classes outputs"
        )
        assert tuned(x).shape == (24, 2), "one logit for each of the new classes"


def test_head_is_on_the_models_device(with_new_head):
    model = _problem()[0].to("meta")  # a device that every machine has, where nothing is computed
    try:
        devices = {p.device.type for p in with_new_head(model, 2).parameters()}
    except (NotImplementedError, RuntimeError) as error:
        if isinstance(error, NotImplementedError) and not error.args:
            raise
        raise AssertionError(f"the function does not work on another device than the CPU: {error}") from None
    assert devices == {"meta"}, (
        f"the model is on the device 'meta', and the copy's parameters are on {', '.join(sorted(devices))}"
    )


def test_frozen(with_new_head):
    tuned = with_new_head(_problem()[0], 2)
    left = [name for name, p in tuned.backbone.named_parameters() if p.requires_grad]
    assert not left, f"backbone parameters still require a gradient: {', '.join(left)}"


def test_head_learns(with_new_head, train):
    model, x, y = _problem()
    tuned = with_new_head(model, 2)
    assert all(p.requires_grad for p in tuned.head.parameters()), "the new head is frozen too: it should learn"
    losses = train(tuned, x, y, 40, 0.05)
    assert len(losses) == 40 and all(type(loss) is float for loss in losses), "a float for each step is asked for"
    assert losses[-1] < 0.8 * losses[0], "with a frozen backbone the head should learn, and the loss hardly falls"


def test_loss_before_the_step(with_new_head, train):
    model, x, y = _problem()
    tuned = with_new_head(model, 2).eval()
    with torch.no_grad():
        expected = nn.functional.cross_entropy(tuned(x), y).item()
    first = train(tuned, x, y, 2, 0.05)[0]
    assert abs(first - expected) < 1e-5, (
        "the first loss is not that of the untouched network with its backbone in eval mode"
    )


def test_rate_of_first_phase(with_new_head, train):
    model, x, y = _problem()
    tuned = with_new_head(model, 2)
    before = tuned.head.weight.detach().clone()
    train(tuned, x, y, 1, 0.02)
    moved = (tuned.head.weight - before).abs().max().item()
    assert abs(moved - 0.02) < 0.002, (
        f"Adam's first step is as long as its rate, 0.02, and the head moved by {moved:.3g}"
    )


def test_all_of_the_head_learns(with_new_head, train):
    model, x, y = _problem()
    tuned = with_new_head(model, 2)
    before = copy.deepcopy(tuned.head.state_dict())
    train(tuned, x, y, 1, 0.02)
    assert set(_changed(before, tuned.head)) == {"weight", "bias"}, "weight and bias of the head are trained, both"


def test_optimizer_gets_what_is_trained(with_new_head, train):
    model, x, y = _problem()
    tuned, given = with_new_head(model, 2), []
    hook = register_optimizer_step_pre_hook(
        lambda optimizer, *_: given.extend(p for group in optimizer.param_groups for p in group["params"])
    )
    try:
        train(tuned, x, y, 1, 0.02)
    finally:
        hook.remove()
    assert all(p.requires_grad for p in given), "the optimizer was given frozen parameters too: leave them out"


def test_statistics_stay(with_new_head, train):
    model, x, y = _problem()
    tuned = with_new_head(model, 2)
    before = copy.deepcopy(tuned.backbone.state_dict())
    train(tuned, x, y, 3, 0.05)
    moved = _changed(before, tuned.backbone)
    assert not set(moved) & set(_buffers(tuned.backbone)), (
        f"{', '.join(moved)} moved although the backbone is frozen: put it in eval mode after model.train()"
    )
    assert not moved, "a frozen parameter of the backbone changed"


def test_head_in_train_mode(with_new_head, train):
    model, x, y = _problem()
    tuned = with_new_head(model, 2).eval()
    modes = []
    tuned.head.register_forward_pre_hook(lambda *_: modes.append(tuned.head.training))
    train(tuned, x, y, 2, 0.05)
    assert modes and all(modes), "the head was trained in eval mode: model.train(), and then the backbone to eval"


def test_backbone_learns(two_phases):
    model, x, y = _problem()
    before = copy.deepcopy(model.backbone.state_dict())
    tuned, losses = two_phases(model, 2, x, y, 5, 0.05, 10)
    moved, parameters = _changed(before, tuned.backbone), dict(tuned.backbone.named_parameters())
    assert set(moved) >= {"0.weight", "1.weight"}, (
        "the second phase did not move the backbone: unfreeze it, and give its parameters to the optimizer"
    )
    assert all(p.requires_grad for p in parameters.values()), "part of the backbone is still frozen at the end"
    assert len(losses) == 10, "the losses of both phases are asked for, 2 * steps of them"


def test_statistics_stay_in_both_phases(two_phases):
    model, x, y = _problem()
    before = copy.deepcopy(model.backbone.state_dict())
    tuned, _ = two_phases(model, 2, x, y, 3, 0.05, 10)
    moved = set(_changed(before, tuned.backbone)) & set(_buffers(tuned.backbone))
    assert not moved, "in the second phase the running statistics moved: the backbone stays in eval mode there, too"


def test_rate_of_second_phase(two_phases):
    model, x, y = _problem()
    before = model.backbone[0].weight.detach().clone()
    tuned, _ = two_phases(model, 2, x, y, 1, 0.05, 100)
    moved = (tuned.backbone[0].weight - before).abs().max().item()
    assert abs(moved - 0.0005) < 0.00005, (
        f"with lr 0.05 and ratio 100 the first step of the backbone has the length 0.0005, not {moved:.2g}"
    )


def test_ready_to_be_judged(two_phases):
    model, x, y = _problem()
    tuned, _ = two_phases(model, 2, x, y, 2, 0.05, 10)
    assert not any(module.training for module in tuned.modules()), "the tuned model is not in eval mode"
    assert all(p.requires_grad for p in model.parameters()), "the pretrained model was changed"


def test_hidden_random(two_phases, reference, seed):
    for case in range(2):
        model, x, y = _problem(seed + case, width=5 + case)
        (tuned, losses), (twin, expected) = (
            tune(copy.deepcopy(model), 2, x, y, 60, 0.15, 20.0) for tune in (two_phases, reference.two_phases)
        )
        # Both heads begin at random, and the first phase is convex: its end hardly depends on the beginning.
        assert abs(losses[59] - expected[59]) < 0.1, "the head was not trained with lr for `steps` steps"
        assert losses[119] < losses[59], "the second phase does not lower the loss"
        assert twin(x).shape == tuned(x).shape, "the tuned model has the wrong number of outputs"
