"""The ward's list of diseases, and how a check takes a diagnosis.

    from torchbook.practice import ward

    def test_diagnosis(diagnosis):
        ward.confirm(diagnosis, "ward-x1", "5a3c…", against={"overflow": "every number that it prints is finite"})

    def test_loss_goes_down(diagnosis, train):
        diagnosis()  # a patient that nobody has diagnosed is unsolved
        ...

Public checks hold a digest where the disease's name would stand, so that who reads them is not told the answer. The
standard library is all that this module needs: the grader's box has no more of this package than learners have.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Callable, Mapping

DISEASES: dict[str, str] = {
    "broadcast-loss": "Shapes of prediction and target differ, and the loss compares every pair of their elements.",
    "buffer-aliased": "Two names share one storage, and writing to one of them changes the other.",
    "cache-without-limit": "A dictionary of results takes an entry for every input, and none is ever taken out.",
    "capacity-too-small": "The network cannot express the function, however long it is trained.",
    "checkpoint-outdated": "A checkpoint older than the last one is loaded, so some steps are made twice.",
    "clipping-after-step": "Gradients are clipped after the optimizer has used them.",
    "collective-skipped": "One process leaves out a call in which all of them must take part.",
    "collectives-reordered": "All processes make the same collective calls, but not all of them in the same order.",
    "constant-baked-in": "A value that changes was taken up as a constant when the code was recorded or compiled.",
    "dead-units": "Units whose ReLU is zero for every example get no gradient and never come back.",
    "device-mismatch": "Tensors that belong together lie on different devices.",
    "double-softmax": "A loss that applies softmax itself is given probabilities.",
    "gradient-of-where": "A branch that torch.where does not choose sends NaN back through its own derivative.",
    "gradients-not-cleared": "Gradients of earlier steps are added to those of this one.",
    "gradients-rounded-to-zero": "Gradients are smaller than the smallest number of their dtype, and become zero.",
    "graph-cut": "A detach, an item() or a new tensor cuts the graph: what lies behind it gets no gradient.",
    "graph-kept-alive": "A tensor that is kept across steps keeps the graphs of those steps with it.",
    "labels-shuffled": "Inputs and labels are permuted independently, and no longer belong together.",
    "leaky-split": "What was learnt from, or what is the same, is also in the set that should be unseen.",
    "learning-rate-too-high": "Each step overshoots; with a smaller learning rate the same code trains.",
    "mask-off-by-one": "A mask or a shift is one position off: the answer can be seen, or something else cannot.",
    "metric-of-means": "A metric is averaged over batches of different sizes as if they were equal.",
    "overflow": "A number leaves the range of its dtype and becomes inf.",
    "parameters-left-out": "Parameters that should be trained are not among those that the optimizer was given.",
    "schedule-per-batch": "A learning rate schedule that counts epochs is stepped once per batch, or the reverse.",
    "scrambled-axes": "Elements lie in another order than the code that reads them assumes, though shapes fit.",
    "seed-not-set": "Nothing is wrong but luck: results differ from run to run because no generator is seeded.",
    "shared-weights-cloned": "Weights that should be one parameter are copies, and drift apart.",
    "stale-workers": "Loader workers hold copies, of the data set or of a generator's state, that no longer change.",
    "state-not-restored": "A run is resumed without all of its state: optimizer, schedule, generator or step count.",
    "sum-for-mean": "A sum stands where a mean is meant, so the size of a step depends on how many items there are.",
    "updates-rounded-away": "Updates are smaller than the spacing of the numbers that they are added to.",
    "vanishing-gradient": "Gradients shrink from layer to layer, and the first layers hardly learn.",
    "wrong-mode": "A module is in training mode where it should evaluate, or the reverse.",
    "wrong-reduction-axis": "A mean, sum or normalisation runs over another axis than the one that is meant.",
}
_DIGITS = 16


def digest(exercise: str, disease: str) -> str:
    """What a public check holds in place of the disease's name."""
    return hashlib.sha256(f"{exercise}:{disease}".encode()).hexdigest()[:_DIGITS]


def confirm(
    diagnosis: Callable[[], str],
    exercise: str,
    expected: str,
    against: Mapping[str, str] | None = None,
    otherwise: str = "what the patient shows does not fit it; measure first, then name",
) -> None:
    """Accept the right diagnosis; say of another what speaks against it.

    Args:
        diagnosis: the learner's function.
        exercise: the patient, for instance "ward-x1".
        expected: `digest` of the patient and its disease.
        against: by name of a tempting disease, the observation that rules it out.
        otherwise: what is said of any other disease.

    Raises:
        AssertionError: it names no disease of the list, or one that this patient does not have.
    """
    answer = diagnosis()
    assert isinstance(answer, str), f"diagnosis() returns a name of DISEASES, a text, not a {type(answer).__name__}"
    name = re.sub(r"[\s_]+", "-", answer.strip().lower())
    assert name in DISEASES, f"{answer!r} is not on the list, torchbook.practice.ward.DISEASES{_near(name)}"
    objection = (against or {}).get(name, otherwise)
    assert digest(exercise, name) == expected, f"not {name}: {objection}"


def _near(name: str) -> str:
    matches = difflib.get_close_matches(name, DISEASES, 2, 0.6)
    return f"; is it {' or '.join(matches)}?" if matches else ""
