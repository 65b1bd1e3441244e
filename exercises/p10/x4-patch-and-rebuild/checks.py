import gc
import random
import re
import shutil
import subprocess
import tempfile
import warnings
from pathlib import Path

import torch

ATEN = torch.ops.aten

SOURCE = """#include <ATen/native/Activation.h>
#include <ATen/native/TensorIterator.h>

namespace at::native {

static void soften_kernel(TensorIteratorBase& iter, double slope) {
  if (iter.numel() == 0) {
    return;
  }
  cpu_kernel(iter, [=](float x) -> float {

    return x < 0 ? slope * x : x;
  });
}

static void harden_kernel(TensorIteratorBase& iter) {
  cpu_kernel(iter, [=](float x) -> float { return x; });
}
}"""


def _during(watching, op, function, key="CPU"):
    """What the function returns while the operator is watched, and the log."""
    log = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is overridden
        try:
            with watching(op, key, log):
                result = function()
        except RecursionError:
            raise AssertionError(
                "the override calls the operator that it overrides, and so itself; call the original kernel instead"
            ) from None
    return result, log


def _applied(diff, before):
    """What the diff makes of the text; every line of context must be where it says."""
    lines, result, at = before.splitlines(keepends=True), [], 0
    rows = diff.splitlines(keepends=True)
    assert len(rows) > 2 and rows[0].startswith("--- ") and rows[1].startswith("+++ "), (
        "the diff has no header, which is a line with --- and a line with +++"
    )
    i = 2
    while i < len(rows):
        head = re.match(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", rows[i])
        assert head, f"a hunk must begin here, but the line is {rows[i]!r}"
        old, new = int(head[2] or 1), int(head[4] or 1)
        start = int(head[1]) - (1 if old else 0)
        result += lines[at:start]
        at, i = start, i + 1
        while old or new:
            assert i < len(rows), "the last hunk is shorter than it says"
            sign, text = rows[i][:1], rows[i][1:]
            if i + 1 < len(rows) and rows[i + 1].startswith("\\"):
                text, i = text.removesuffix("\n"), i + 1
            assert sign in {" ", "-", "+"} and sign, f"a line of a hunk begins with a space, -, or +; found {rows[i]!r}"
            if sign != "+":
                assert at < len(lines) and lines[at] == text, (
                    f"line {at + 1} of the file is not the same as in the hunk"
                )
                at, old = at + 1, old - 1
            if sign != "-":
                result.append(text)
                new -= 1
            i += 1
    return "".join(result + lines[at:])


def _takes(diff, path, before):
    """What `git apply` says against it; nothing where there is no git."""
    if shutil.which("git"):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_bytes(before.encode())
            done = subprocess.run(["git", "apply", "-"], cwd=folder, input=diff.encode(), capture_output=True)
            return done.stderr.decode().strip(), file.read_bytes().decode()
    return "", _applied(diff, before)


def test_watching_logs(watching):
    x, y = torch.ones(2, 3), torch.ones(3)
    result, log = _during(watching, ATEN.add.Tensor, lambda: x + y)
    assert log == ["aten::add.Tensor (2, 3) (3,)"], (
        f"one call gives one line, with the name and the tensors' shapes; found {log}"
    )
    assert result.equal(torch.full((2, 3), 2.0)), "the result must still be the sum"
    _, log = _during(watching, ATEN.add.Tensor, lambda: [x * y, x.add_(y), torch.ones(2, device="meta") + 1])
    assert log == [], f"only this overload at this key is watched: no mul, no add_, no other devices; found {log}"


def test_watching_same_numbers(watching):
    x, y = torch.arange(6.0).view(2, 3), torch.tensor([1, 2, 3])
    result, _ = _during(watching, ATEN.add.Tensor, lambda: torch.add(x, y, alpha=3))
    assert result.equal(x + 3 * y), "alpha is also an argument, and arrives as a keyword"
    result, log = _during(watching, ATEN.add.Tensor, lambda: (x.T + x.T, y + y))
    assert result[0].stride() == (x.T + x.T).stride(), "call the original kernel, which keeps the memory order"
    assert result[1].dtype == torch.int64 and len(log) == 2
    result, log = _during(watching, ATEN.mm.default, lambda: x @ x.T)
    assert result.equal(x @ x.T) and len(log) == 1, "any operator can be watched, not only add"


def test_watching_any_argument(watching):
    x = torch.arange(6.0).view(2, 3)
    try:
        result, log = _during(watching, ATEN._softmax.default, lambda: x.softmax(1))
    except NotImplementedError:
        raise
    except RuntimeError as error:
        said = str(error).splitlines()[0]
        raise AssertionError(f"softmax(x, 1) has an integer and a bool, which are not tensors: {said}") from None
    assert result.equal(x.softmax(1)) and log == ["aten::_softmax (2, 3)"], (
        f"only one of the three arguments is a tensor; found {log}"
    )
    y = x.clone()
    result, log = _during(watching, ATEN.add_.Tensor, lambda: y.add_(x))
    assert y.equal(2 * x) and result is y and len(log) == 1, "an in-place operator changes its operand, and returns it"


def test_watching_the_key(watching):
    x, y = torch.ones(4), torch.ones(2, 3, device="meta")
    result, log = _during(watching, ATEN.add.Tensor, lambda: [y + y, x + x], "Meta")
    assert log == ["aten::add.Tensor (2, 3) (2, 3)"], (
        f"at Meta, one call on meta is logged, and none on the CPU; found {log}"
    )
    assert result[0].is_meta and result[1].equal(2 * x), "each device must keep its own kernel"


def test_watching_numbers(watching):
    x = torch.arange(3)
    try:
        result, log = _during(watching, ATEN.add.Tensor, lambda: (x + 1, x + 2.5))
    except NotImplementedError:
        raise
    except RuntimeError as error:
        said = str(error).splitlines()[0]
        raise AssertionError(f"in x + 1 the second operand reaches Python as a number, not a tensor: {said}") from None
    assert result[0].tolist() == [1, 2, 3] and result[1].tolist() == [2.5, 3.5, 4.5]
    assert len(log) == 2, "x + 1 also calls add.Tensor"


def test_watching_autograd(watching):
    x = torch.ones(3, requires_grad=True)
    result, log = _during(watching, ATEN.add.Tensor, lambda: x + x)
    assert log and result.grad_fn is not None and result.grad_fn.name() == "AddBackward0", (
        "the key CPU is below autograd: the graph is made before the override is reached"
    )
    result.sum().backward()
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def _libraries():
    return [one for one in gc.get_objects() if type(one) is torch.library.Library]


def test_watching_undone(watching):
    known = {id(one) for one in _libraries()}
    try:
        _look_whether_undone(watching)
    finally:  # an override that stays would take part in whatever this process computes later
        for one in _libraries():
            if id(one) not in known:
                one._destroy()


def _look_whether_undone(watching):
    name, x = "aten::add.Tensor", torch.ones(2)
    before = torch._C._dispatch_dump(name)
    _during(watching, ATEN.add.Tensor, lambda: x + x)
    assert torch._C._dispatch_dump(name) == before, "after the block, the registered kernel is not the one from before"

    def fails():
        raise KeyError("by intention")

    try:
        _during(watching, ATEN.add.Tensor, fails)
    except KeyError:
        pass
    else:
        raise AssertionError("an error in the block must reach the caller")
    assert torch._C._dispatch_dump(name) == before, (
        "after an error in the block, the override is still there: always undo it"
    )


def test_statement(statement):
    found = statement("add was called")
    assert found == 'std::printf("add was called\\n");', f"found {found}"
    found = statement("at 50% of n")
    assert "50%%" in found, f"printf takes % for a conversion; a literal % is written twice; found {found}"
    found = statement('a "b" \\ c')
    assert found == 'std::printf("a \\"b\\" \\\\ c\\n");', f'" and \\ are escaped in a C++ string; found {found}'
    found = statement("hello", cuda=True)
    assert found == 'if (blockIdx.x == 0 && threadIdx.x == 0) printf("hello\\n");', (
        f"without the condition, each of perhaps a hundred thousand threads prints; found {found}"
    )


def test_patched(patched):
    found = patched(SOURCE, "void soften_kernel(", "shout();")
    lines = found.splitlines()
    place = lines.index(next(line for line in lines if "void soften_kernel(" in line)) + 1
    assert lines[place] == "  shout();", (
        f"the line after the anchor must be indented like the code below; found {lines[place]!r}"
    )
    assert lines[2] == "#include <cstdio>", "printf is declared in <cstdio>: include it after the last #include"
    assert len(lines) == len(SOURCE.splitlines()) + 2 and not found.endswith("\n"), "nothing else may change"
    again = patched(found, "void harden_kernel(", "whisper();")
    assert again.count("<cstdio>") == 1, "a second patch of the same file needs no second #include"


def test_patched_blank(patched):
    source = SOURCE.replace("static void harden_kernel(TensorIteratorBase& iter) {\n", "void hard() {\n\n")
    lines = patched(source, "void hard()", "shout();").splitlines()
    assert "  shout();" in lines, "an empty line has no indentation: look at the first line below that is not empty"


def test_patched_refuses(patched):
    for anchor in ("cpu_kernel(", "no_such_kernel"):
        try:
            patched(SOURCE, anchor, "shout();")
        except ValueError:
            continue
        raise AssertionError(f"{anchor!r} is in {SOURCE.count(anchor)} lines: do not guess, but raise ValueError")
    try:
        patched(f"{SOURCE}  // of soften_kernel", "soften_kernel", "shout();")
    except ValueError:
        return
    raise AssertionError("the last line also has the anchor, so the anchor is in 2 lines: raise ValueError")


def test_patched_includes(patched):
    source = SOURCE.replace(
        "  if (iter", "  // <cstdio> is not needed here, nor is\n  // #include <vector>\n  if (iter"
    )
    lines = patched(source, "void harden_kernel(", "shout();").splitlines()
    assert lines[2:3] == ["#include <cstdio>"] and lines.count("#include <cstdio>") == 1, (
        f"a comment includes nothing: the third line must be `#include <cstdio>`, but is {lines[2]!r}"
    )


def test_patch(patch):
    path = "aten/src/ATen/native/Soften.cpp"
    after = SOURCE.replace("  if (iter", "  shout();\n  if (iter")
    found = patch(path, SOURCE, after)
    first = found.splitlines()[:2]
    assert first == [f"--- a/{path}", f"+++ b/{path}"], (
        f"git strips one folder, a/ or b/, from each name; found {first}"
    )
    assert _applied(found, SOURCE) == after, "applied to the text before, the diff does not give the text after"
    assert sum(line[:1] in "+-" for line in found.splitlines()[2:]) == 1, "the diff must add one line, and remove none"
    context = sum(line.startswith(" ") for line in found.splitlines()[3:])
    assert context == 6, (
        f"the new line needs three lines of context before it and three after it, but there are {context}"
    )
    assert patch(path, SOURCE, SOURCE) == "", "if there is no difference, the diff is empty"


def test_patch_at_the_end(patch):
    path = "aten/src/ATen/native/Soften.cpp"
    after = SOURCE.replace("{ return x; });", "{ return x; });\n  shout();")
    found = patch(path, SOURCE, after)
    said, result = _takes(found, path, SOURCE)
    assert not said and result == after, (
        f"the last line has no end, which a diff says in a separate line: `\\ No newline at end of file`. {said}"
    )


def test_a_real_header(patched, patch, statement):
    folder = Path(torch.__file__).parent / "include" / "ATen" / "native"
    headers = {
        "cpu/Loops.h": "vectorized_loop(char**",
        "cuda/CUDALoops.cuh": "void elementwise_kernel(int N, func_t f) {",
    }
    for name, anchor in headers.items():
        file = folder / name
        before = file.read_text(encoding="utf-8") if file.is_file() else SOURCE
        anchor = anchor if before.count(anchor) == 1 else "void soften_kernel("
        before = before if before.count(anchor) == 1 else SOURCE
        after = patched(before, anchor, statement("here", cuda=name.startswith("cuda")))
        path = f"aten/src/ATen/native/{name}"
        said, result = _takes(patch(path, before, after), path, before)
        assert not said and result == after, f"git does not accept the patch of {name}: {said}"


def test_hidden_operators(watching, seed):
    dice = random.Random(seed)
    torch.manual_seed(seed)
    overloads = [ATEN.mul.Tensor, ATEN.sub.Tensor, ATEN.maximum.default, ATEN.atan2.default, ATEN.div.Tensor]
    for watched in dice.sample(overloads, 3):
        rows, columns = dice.randint(1, 5), dice.randint(1, 5)
        first, second = torch.randn(rows, columns), torch.randn(dice.choice([1, rows]), columns)
        expected = watched(first, second)
        result, log = _during(watching, watched, lambda: [watched(first, second) for _ in range(rows)])  # noqa: B023
        assert all(one.equal(expected) for one in result), f"the results of {watched.name()} have changed"
        line = f"{watched.name()} {tuple(first.shape)} {tuple(second.shape)}"
        assert log == [line] * rows, f"each of {rows} calls should have logged {line!r}; found {log}"


def test_hidden_two_at_once(watching):
    x, outer, inner = torch.ones(2, 2), [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with watching(ATEN.mm.default, "CPU", outer), watching(ATEN.relu.default, "CPU", inner):
            (x @ x).relu()
        (x @ x).relu()
    assert (len(outer), len(inner)) == (1, 1), (
        f"one mm and one relu ran while both were watched; found {outer} and {inner}"
    )


def test_nested(watching):
    x, outer, inner = torch.ones(2, 2), [], []
    before = torch._C._dispatch_dump("aten::mm")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            with watching(ATEN.mm.default, "CPU", outer):
                with watching(ATEN.mm.default, "CPU", inner):
                    x @ x
                x @ x
        except NotImplementedError:
            raise
        except RuntimeError as error:
            said = str(error).splitlines()[0]
            raise AssertionError(f"an operator that is already watched must be watchable again: {said}") from None
    assert (len(outer), len(inner)) == (2, 1), (
        f"the outer block has two calls of mm, and the inner one has one; found {outer} and {inner}"
    )
    assert torch._C._dispatch_dump("aten::mm") == before, "after both blocks, the kernel must be the one from before"


def test_hidden_patches(patched, patch, reference, seed):
    dice = random.Random(seed + 5)
    for _ in range(15):
        body = [f"{' ' * dice.choice([0, 2, 4])}call_{number}();" for number in range(dice.randint(3, 25))]
        for number in range(dice.randint(0, 3)):
            body.insert(0, f"#include <part_{number}.h>")
        if dice.random() < 0.3:
            body.insert(0, "#include <cstdio>")
        before = "\n".join(body) + dice.choice(["", "\n"])
        target = f"call_{dice.randrange(sum(row.endswith('();') for row in body) - 1)}("
        after = reference.patched(before, target, "shout();")
        assert patched(before, target, "shout();") == after, f"the patch after {target!r} is wrong for {before!r}"
        said = _applied(patch("c10/util/Any.h", before, after), before)
        assert said == after, f"the diff does not turn {before!r} into {after!r}"
