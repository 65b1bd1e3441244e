import ast

import torch

SCORES = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [0.0, 10.0, 20.0]])


def test_right_scores(right_scores):
    found = right_scores(SCORES, torch.tensor([2, 0, 1, 2]))
    assert found.shape == (4,), (
        f"one score for each of the four rows is asked for, and the shape is {tuple(found.shape)}"
    )
    assert found.tolist() == [3, 4, 8, 20], "row i and label i form a pair: the score at (i, labels[i])"


def test_left_half(left_half):
    picture = torch.arange(10.0).view(2, 5)
    assert left_half(picture).tolist() == [[0, 1], [5, 6]], (
        "of five columns the left half is the first two: the width is the last dimension, and the middle is left out"
    )


def test_left_half_of_any_shape(left_half):
    for shape in ((6, 8), (3, 6, 8), (2, 3, 6, 8), (4, 2, 3, 6, 8)):
        t = torch.randn(shape)
        found = left_half(t)
        assert found.shape == (*shape[:-1], 4), (
            f"of a tensor of shape {shape} the left half has shape {(*shape[:-1], 4)}, not {tuple(found.shape)}"
        )
        assert found.equal(t[..., :4]), "the left half begins at column 0"


def test_capped(capped):
    found = capped(torch.tensor([[1.0, 5.0], [3.0, 9.0]]), 3.0)
    assert found.shape == (2, 2), "capping keeps the shape: a mask as an index alone would give one dimension"
    assert found.tolist() == [[1, 3], [3, 3]], "what is above the limit becomes the limit, and all else stays"


def test_capped_copies(capped):
    t = torch.tensor([1.0, 5.0])
    found = capped(t, 3.0)
    assert t.tolist() == [1, 5], "the given tensor was changed: clone it, and write into the clone"
    found[0] = 7
    assert t[0] == 1, "the result shares memory with the given tensor; a copy is asked for"


def test_best_rows(best_rows):
    t = torch.tensor([[1.0, 1.0], [9.0, 0.0], [3.0, 3.0], [0.0, 8.0]])
    found = best_rows(t, 3)
    assert found.shape == (3, 2), "k whole rows are asked for"
    assert found.tolist() == [[9, 0], [0, 8], [3, 3]], "the rows with the largest sums come first"


def test_no_loop(right_scores, left_half, capped, best_rows, source):
    right_scores(SCORES, torch.tensor([2, 0, 1, 2])), left_half(SCORES), capped(SCORES, 3.0), best_rows(SCORES, 2)
    four, loops = {"right_scores", "left_half", "capped", "best_rows"}, (ast.For, ast.While, ast.comprehension)
    with_loop = [
        node.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name in four
        if any(isinstance(part, loops) for part in ast.walk(node))
    ]
    assert not with_loop, f"{with_loop[0]} goes through the elements in a loop: one index does it for all of them"


def _reference(reference, seed):
    generator = torch.Generator().manual_seed(seed)
    for rows, columns in ((1, 1), (2, 5), (7, 3)):
        yield torch.randn(rows, columns, generator=generator), generator, reference


def test_hidden_random(right_scores, left_half, capped, best_rows, reference, seed):
    for t, generator, right in _reference(reference, seed):
        labels = torch.randint(t.shape[1], (len(t),), generator=generator)
        assert right_scores(t, labels).equal(right.right_scores(t, labels)), "right_scores is wrong for other sizes"
        assert left_half(t).equal(right.left_half(t)), "left_half is wrong for other sizes"
        assert capped(t, 0.2).equal(right.capped(t, 0.2)), "capped is wrong for other numbers"
        k = min(2, len(t))
        assert best_rows(t, k).equal(right.best_rows(t, k)), "best_rows is wrong for other sizes"
