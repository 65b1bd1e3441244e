def test_small(answer):
    raise AssertionError("write test_small: a case that a learner can follow, and in this message the misconception")


def test_hidden_drawn(answer, reference, seed):
    raise AssertionError("write test_hidden_drawn: compare answer and reference.answer on cases drawn from the seed")
