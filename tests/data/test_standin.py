"""The drawn clothes: the same bytes everywhere, balanced, learnable, not trivial."""

import hashlib

import numpy as np
import pytest

from torchbook.data import standin


def test_every_byte_is_the_recorded_one():
    digest = hashlib.sha256()
    for train in (True, False):
        for array in standin.split(train):
            digest.update(array.tobytes())
    assert digest.hexdigest() == standin.FINGERPRINT


@pytest.mark.parametrize(("train", "size"), [(True, 60_000), (False, 10_000)])
def test_shapes_and_balance(train: bool, size: int):
    images, labels = standin.split(train)
    assert (images.shape, images.dtype) == ((size, 28, 28), np.uint8)
    assert (labels.shape, labels.dtype) == ((size,), np.uint8)
    assert np.bincount(labels).tolist() == [size // 10] * 10


def test_the_readers_random_numbers_are_left_alone():
    np.random.seed(0)
    before = np.random.get_state()[1].tolist()
    standin.draw_block(np.arange(10, dtype=np.uint8), 1)
    assert np.random.get_state()[1].tolist() == before


def test_the_splits_share_no_image():
    train, test = ({image.tobytes() for image in standin.split(split)[0]} for split in (True, False))
    assert len(train) > 59_990
    assert not train & test


def test_the_pixels_are_spread_like_clothes_on_a_dark_ground():
    images, _ = standin.split(False)
    assert 0.15 < images.mean() / 255 < 0.35
    assert 0.20 < images.std() / 255 < 0.40


def test_the_class_means_tell_most_classes_apart_but_not_all():
    (images, labels), (unseen, truth) = standin.split(True), standin.split(False)
    means = np.stack([images[labels == kind].mean(axis=0) for kind in range(10)]).reshape(10, -1)
    flat = unseen.reshape(len(unseen), -1).astype(np.float64)
    guess = np.argmin((means**2).sum(axis=1) - 2 * flat @ means.T, axis=1)
    assert 0.6 < (guess == truth).mean() < 0.85
    upper = {0, 2, 4, 6}
    mistakes = truth[guess != truth]
    assert np.isin(mistakes, list(upper)).mean() > 0.5


def test_a_cell_on_a_shared_edge_belongs_to_one_polygon():
    left, right = standin.box(0, 0, 40, 100), standin.box(40, 0, 80, 100)
    assert not (standin.inside(left) & standin.inside(right)).any()
    assert (standin.inside(left) | standin.inside(right)).sum() == 80 * 100
