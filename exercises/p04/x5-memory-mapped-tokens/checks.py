import pickle
import random
import tempfile
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader


@contextmanager
def _file(tokens=None, dtype=np.uint16):
    """Path of a file that holds these tokens, removed afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "tokens.bin"
        if tokens is not None:
            np.array(tokens, dtype=dtype).tofile(path)
        yield path


def _letters(text):
    return [ord(letter) - ord("a") for letter in text]


def _written(write_tokens, texts, encode=_letters, vocab_size=27, end=26):
    """Dtype and contents, as this dtype, of the file."""
    with _file() as path:
        dtype = np.dtype(write_tokens(path, texts, encode, vocab_size, end))
        return dtype, np.fromfile(path, dtype=dtype).tolist()


def test_written(write_tokens):
    dtype, found = _written(write_tokens, iter(["ab", "z", "", "c"]))
    assert dtype == np.uint16, f"a vocabulary of 27 tokens fits into uint16, not {dtype}"
    assert found == [0, 1, 26, 25, 26, 26, 2, 26], (
        f"the tokens of each text, and behind each text the token `end`, also behind an empty one; not {found}"
    )


def test_size_of_a_token(write_tokens):
    for size, expected in ((2**16 - 1, np.uint16), (2**16, np.uint16), (2**16 + 1, np.uint32), (128_256, np.uint32)):
        dtype, found = _written(write_tokens, ["a", "b"], vocab_size=size, end=size - 1)
        assert dtype == expected, (
            f"a vocabulary of {size} has tokens up to {size - 1}: {np.dtype(expected)}, not {dtype}"
        )
        assert found == [0, size - 1, 1, size - 1], f"the token {size - 1} has become {found[1]}"


def test_outside_of_the_vocabulary(write_tokens):
    for size, bad in ((1000, 1000), (2**16, 2**16), (2**16, 128_000), (2**17, 2**17), (1000, -1)):
        with _file() as path:
            try:
                write_tokens(path, ["a"], lambda text, bad=bad: [5, bad, 7], size, 999)
            except ValueError:
                continue
            except OverflowError as error:
                raise AssertionError(
                    f"raise ValueError, which says what is wrong, not OverflowError: {error}"
                ) from None
            raise AssertionError(f"the token {bad} is none of a vocabulary of {size}, and was written: as which one?")


def test_streams(write_tokens):
    def texts():
        for n in range(100):
            yield f"{n:20000}"  # a text of its own each time, which nobody need keep

    with _file() as path:
        tracemalloc.start()
        try:
            write_tokens(path, texts(), lambda text: [7] * 4000, 100, 99)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        size = path.stat().st_size
    assert size == 100 * 4001 * 2, f"100 texts of 4000 tokens and an end are 800200 bytes, not {size}"
    assert peak < size // 2, (
        f"{peak // 1000} KB of memory were needed for a file of {size // 1000} KB: write each text when it comes"
    )


def _windows(Tokens, n, block, stride=None, dtype=np.uint16):
    with _file(range(n), dtype) as path:
        dataset = Tokens(path, dtype, block) if stride is None else Tokens(path, dtype, block, stride)
        yield dataset
        if hasattr(dataset, "__dict__"):
            vars(dataset).clear()  # closes the file, which Windows would not let go


def test_number_of_windows(Tokens):
    for dataset in _windows(Tokens, 10, 4, stride=1):
        assert len(dataset) == 6, f"10 tokens have 6 windows of 4 tokens with successors, at 0 to 5; not {len(dataset)}"


def test_short_files(Tokens):
    for n, expected in ((6, 2), (5, 1), (4, 0), (2, 0), (1, 0)):
        for dataset in _windows(Tokens, n, 4, stride=1):
            found = dataset.__len__()
            assert found == expected, (
                f"in a file of {n} tokens there is room for {expected} windows of 4 + 1, not {found}"
            )


def test_last_window(Tokens):
    for dataset in _windows(Tokens, 10, 4, stride=1):
        x, y = dataset[5]
        assert (x.tolist(), y.tolist()) == ([5, 6, 7, 8], [6, 7, 8, 9]), (
            f"the last window is 5 6 7 8 with the successors 6 7 8 9, not {x.tolist()} and {y.tolist()}"
        )


def test_stride(Tokens):
    for n, expected in ((8, [0]), (9, [0, 4]), (12, [0, 4]), (13, [0, 4, 8])):
        for dataset in _windows(Tokens, n, 4):
            found = [dataset[i][0][0].item() for i in range(len(dataset))]
            assert found == expected, f"{n} tokens, block 4, no stride: windows begin at {expected}, not at {found}"
    for dataset in _windows(Tokens, 12, 4, stride=3):
        found = [dataset[i][0][0].item() for i in range(len(dataset))]
        assert found == [0, 3, 6], f"12 tokens, block 4, stride 3: windows begin at 0, 3 and 6, not at {found}"


def test_dtypes(Tokens):
    for dtype in (np.uint16, np.uint32):
        top = np.iinfo(dtype).max
        with _file([1, top, 2], dtype) as path:
            dataset = Tokens(path, dtype, 2)
            x, y = dataset[0]
            assert x.dtype == y.dtype == torch.int64, f"an embedding wants int64, not {x.dtype} and {y.dtype}"
            assert x.tolist() == [1, top] and y.tolist() == [top, 2], f"the token {top} was read as {x[1].item()}"
            del dataset


def test_outside(Tokens):
    for dataset in _windows(Tokens, 10, 4, stride=1):
        for index in (6, 100, -1):
            try:
                dataset[index]
            except IndexError:
                continue
            except (ValueError, RuntimeError) as error:
                raise AssertionError(f"window {index} of 6: raise IndexError, not {error}") from None
            raise AssertionError(f"there are 6 windows, and dataset[{index}] gave one: raise IndexError")


def test_samples_are_copies(Tokens):
    for dataset in _windows(Tokens, 10, 4, stride=1):
        x, _ = dataset[0]
        x += 50
        x, y = dataset[1]
        assert x.tolist() == [1, 2, 3, 4], f"a sample was changed in place, and the next one with it: {x.tolist()}"
        y -= 50
        assert dataset[2][0].tolist() == [2, 3, 4, 5], "a sample's y was changed in place, and the next sample with it"


def test_not_read_as_a_whole(Tokens):
    with _file() as path:
        with open(path, "wb") as file:
            file.truncate(4_000_000)
        tracemalloc.start()
        try:
            dataset = Tokens(path, np.uint16, 8)
            dataset[len(dataset) - 1]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        del dataset
    assert peak < 400_000, (
        f"one window of 8 tokens took {peak // 1000} KB of memory, for a file of 4000 KB: map the file"
    )


def test_read_only(Tokens, random_batch):
    with _file(range(7)) as path:
        path.chmod(0o444)
        try:
            dataset = Tokens(path, np.uint16, 6)
            found = [dataset[0][0].tolist(), _batch(random_batch, path, 6, 1, 0)[0][0].tolist()]
        except PermissionError as error:
            raise AssertionError(f"the file is only read, and may be one that cannot be written: {error}") from None
        finally:
            path.chmod(0o644)
        del dataset
    assert found == [list(range(6))] * 2, f"a read-only file of 7 tokens has one window of 6 + 1, not {found}"


def _size_of_pickle(dataset):
    try:
        return len(pickle.dumps(dataset))
    except Exception as error:
        raise AssertionError(f"the dataset cannot be pickled: {type(error).__name__}: {error}") from None


def test_pickle(Tokens):
    with _file(range(20_000)) as path:
        dataset = Tokens(path, np.uint16, 8)
        size = _size_of_pickle(dataset)
        del dataset
    assert size < 4000, f"a dataset of a file of 40000 bytes is a pickle of {size}: under spawn each worker gets one"


def test_pickle_after_reading(Tokens):
    with _file(range(20_000)) as path:
        dataset = Tokens(path, np.uint16, 8)
        expected = dataset[7][1].tolist()
        size = _size_of_pickle(dataset)
        assert size < 4000, f"after the first sample the pickle has {size} bytes: leave the open file out"
        try:
            again = pickle.loads(pickle.dumps(dataset))
            found = again[7][1].tolist()
        except Exception as error:
            raise AssertionError(f"after a trip through pickle, no sample can be had: {type(error).__name__}") from None
        assert found == expected, f"after a trip through pickle, window 7 is {found}"
        del dataset, again


def _batch(random_batch, path, block, batch_size, seed, dtype=np.uint16):
    try:
        return random_batch(path, dtype, block, batch_size, torch.Generator().manual_seed(seed))
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"random_batch raised {type(error).__name__}: {error}") from None


def test_batch(random_batch):
    with _file(range(50)) as path:
        x, y = _batch(random_batch, path, 6, 5, 0)
    assert x.shape == y.shape == (5, 6) and x.dtype == y.dtype == torch.int64, (
        f"two tensors (B, T) of int64, not {tuple(x.shape)}, {x.dtype} and {tuple(y.shape)}, {y.dtype}"
    )
    assert y.equal(x + 1) and (x[:, 1:] == x[:, :-1] + 1).all(), "y is x, one token further on in the file"


def test_every_start(random_batch):
    with _file(range(9)) as path:
        x, y = _batch(random_batch, path, 6, 400, 1)
        starts = sorted(set(x[:, 0].tolist()))
        assert starts == [0, 1, 2], f"9 tokens have windows of 6 + 1 at 0, 1 and 2; drawn were {starts}"
        assert y.max() == 8, "the last token of the file is an answer, too"
    with _file(range(7)) as path:
        x, _ = _batch(random_batch, path, 6, 3, 1)
        assert x.tolist() == [[0, 1, 2, 3, 4, 5]] * 3, "7 tokens have one window of 6 + 1"


def test_generator(random_batch):
    with _file(range(5000)) as path:
        torch.manual_seed(1)
        first, _ = _batch(random_batch, path, 4, 8, 3)
        torch.manual_seed(2)
        np.random.seed(2)
        second, _ = _batch(random_batch, path, 4, 8, 3)
        third, _ = _batch(random_batch, path, 4, 8, 4)
    assert first.equal(second), "the same generator state must give the same batch, whatever other generators did"
    assert not first.equal(third), "another seed of the generator gave the same batch"


def test_hidden_round_trip(write_tokens, Tokens, seed):
    draw = random.Random(seed)
    for size in (300, 2**16, 2**16 + 1, 200_000):
        texts = ["x" * draw.randint(0, 30) for _ in range(20)]
        encoded = [[draw.randrange(size) for _ in text] for text in texts]
        left = iter(encoded)
        expected = [token for tokens in encoded for token in (*tokens, size - 1)]
        with _file() as path:
            dtype = write_tokens(path, iter(texts), lambda _, left=left: next(left), size, size - 1)
            dataset = Tokens(path, dtype, 1)
            read = [dataset[i][0].item() for i in range(len(dataset))] + [dataset[len(dataset) - 1][1].item()]
            del dataset
        assert read == expected, f"what was written with a vocabulary of {size} is read as something else"


def test_hidden_windows(Tokens, seed):
    draw = random.Random(seed)
    for _ in range(30):
        n, block, stride = draw.randint(1, 60), draw.randint(1, 9), draw.randint(1, 12)
        starts = [s for s in range(0, n, stride) if s + block + 1 <= n]
        for dataset in _windows(Tokens, n, block, stride):
            assert len(dataset) == len(starts), f"{n} tokens, block {block}, stride {stride}: {len(starts)} windows"
            if starts:
                for i, (x, y) in enumerate(DataLoader(dataset, batch_size=None)):
                    right = list(range(starts[i], starts[i] + block)), list(range(starts[i] + 1, starts[i] + block + 1))
                    assert (x.tolist(), y.tolist()) == right, f"window {i} of stride {stride} is another"


def test_hidden_batches(random_batch, seed):
    draw = random.Random(seed)
    with _file(range(70_000), np.uint32) as path:
        for case in range(5):
            block, size = draw.randint(1, 40), draw.randint(1, 40)
            x, y = _batch(random_batch, path, block, size, seed + case, np.uint32)
            assert y.equal(x + 1) and x.shape == (size, block), "a batch from a file of uint32 is wrong"
    with _file(range(13)) as path:
        x, _ = _batch(random_batch, path, 3, 6000, seed)
        counts = x[:, 0].bincount(minlength=10)
        assert len(counts) == 10 and counts.min() > 450 and counts.max() < 750, "not all starts are equally probable"
