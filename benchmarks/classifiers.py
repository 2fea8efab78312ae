"""What others would take: classifiers of sequences, written with libraries.

Each is a function of training sequences, their labels and sequences to be labelled, that returns
a `Found`. Sequences are arrays (n_j, d). All settings are the libraries' own, all seeds are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.splits import needed

Arrays = Sequence[np.ndarray]
_LEAST = 9  # points in time that MiniRocket needs
_EPOCHS, _STEPS, _WIDTH, _BATCH = 100, 3000, 32, 16


@dataclass(frozen=True)
class Found:
    """Predicted labels, parameters (None where the training data are kept), seconds of fitting."""

    labels: np.ndarray
    parameters: int | None
    seconds: float


Method = Callable[[Arrays, np.ndarray, Arrays], Found]


def padded(X: Arrays, length: int) -> np.ndarray:
    """One array (N, d, length): zeros behind what is shorter, what is longer is cut."""
    found = np.zeros((len(X), X[0].shape[1], length))
    for row, x in zip(found, X, strict=True):
        row[:, : len(x)] = x[:length].T
    return found


def euclidean(X: Arrays, y: np.ndarray, new: Arrays) -> Found:
    """1-NN in the Euclidean distance of the padded sequences (scikit-learn)."""
    length = max(map(len, X))
    start = perf_counter()
    model = needed("sklearn.neighbors").KNeighborsClassifier(1, algorithm="brute")
    model.fit(padded(X, length).reshape(len(X), -1), y)
    seconds = perf_counter() - start
    return Found(model.predict(padded(new, length).reshape(len(new), -1)), None, seconds)


def dtw(X: Arrays, y: np.ndarray, new: Arrays) -> Found:
    """1-NN with dynamic time warping, all warps allowed (aeon)."""
    start = perf_counter()
    kind = needed("aeon.classification.distance_based").KNeighborsTimeSeriesClassifier
    model = kind("dtw").fit(_channels_first(X), y)
    seconds = perf_counter() - start
    return Found(model.predict(_channels_first(new)), None, seconds)


def _channels_first(X: Arrays) -> np.ndarray | list[np.ndarray]:
    series = [np.ascontiguousarray(x.T) for x in X]
    return np.array(series) if len({x.shape for x in series}) == 1 else series


def minirocket(X: Arrays, y: np.ndarray, new: Arrays) -> Found:
    """MiniRocket (Dempster, Schmidt, Webb 2021; aeon): 9 996 features and a ridge classifier."""
    length = max(_LEAST, *map(len, X))
    start = perf_counter()
    kind = needed("aeon.classification.convolution_based").MiniRocketClassifier
    model = kind(random_state=0).fit(padded(X, length), y)
    seconds = perf_counter() - start
    ridge = model.pipeline_[-1]
    return Found(model.predict(padded(new, length)), ridge.coef_.size, seconds)


def mean_token(X: Arrays, y: np.ndarray, new: Arrays) -> Found:
    """Logistic regression on the mean token, standardised (scikit-learn)."""
    start = perf_counter()
    scale = needed("sklearn.preprocessing").StandardScaler()
    linear = needed("sklearn.linear_model").LogisticRegression(max_iter=2000)
    linear.fit(scale.fit_transform([x.mean(axis=0) for x in X]), y)
    seconds = perf_counter() - start
    found = linear.predict(scale.transform([x.mean(axis=0) for x in new]))
    return Found(found, linear.coef_.size + linear.intercept_.size, seconds)


def transformer(X: Arrays, y: np.ndarray, new: Arrays, most: int = _STEPS) -> Found:
    """A small softmax transformer (PyTorch): a linear map of each token to ℝ³², sines and cosines
    of positions, two layers of four heads, the mean of the tokens, a linear read-out. Adam, a
    fixed number of steps, at most ``most``.
    """
    torch = needed("torch")
    names, target = np.unique(y, return_inverse=True)
    every = np.concatenate(list(X))
    centre, scale = every.mean(axis=0), every.std(axis=0) + 1e-9
    length = max(map(len, [*X, *new]))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    start = perf_counter()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = _Small(torch, every.shape[1], len(names), length)
        optimizer = torch.optim.Adam(model.weights, 1e-3, weight_decay=0)
        inputs, mask = _batch(torch, X, centre, scale)
        goal = torch.tensor(target)
        steps = min(most, _EPOCHS * -(-len(X) // _BATCH))
        for step in range(steps):
            for group in optimizer.param_groups:
                group["lr"] = 2e-3 * (1 - step / steps)
            rows = torch.randint(len(X), (min(_BATCH, len(X)),))
            loss = torch.nn.functional.cross_entropy(model(inputs[rows], mask[rows]), goal[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    seconds = perf_counter() - start
    with torch.no_grad():
        scores = model.eval()(*_batch(torch, new, centre, scale))
    torch.set_num_threads(threads)
    count = sum(w.numel() for w in model.weights)
    return Found(names[scores.argmax(1).numpy()], count, seconds)


class _Small:
    """The network of `transformer`; no subclass, so that this file needs no PyTorch."""

    def __init__(self, torch, width: int, classes: int, length: int) -> None:
        nn = torch.nn
        self.embed = nn.Linear(width, _WIDTH)
        layer = nn.TransformerEncoderLayer(_WIDTH, 4, 2 * _WIDTH, 0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.read = nn.Linear(_WIDTH, classes)
        angle = torch.arange(length)[:, None] / 1000 ** (torch.arange(0, _WIDTH, 2) / _WIDTH)
        self.places = torch.cat([angle.sin(), angle.cos()], 1)
        parts = (self.embed, self.layers, self.read)
        self.weights = [w for part in parts for w in part.parameters()]

    def eval(self) -> _Small:
        self.layers.eval()
        return self

    def __call__(self, inputs, mask):
        hidden = self.embed(inputs) + self.places[: inputs.shape[1]]
        hidden = self.layers(hidden, src_key_padding_mask=~mask)
        share = mask / mask.sum(1, keepdim=True)
        return self.read((hidden * share[:, :, None]).sum(1))


def _batch(torch, X: Arrays, centre: np.ndarray, scale: np.ndarray):
    """Standardised tokens (N, n, d), zero behind the end, and where the tokens are (N, n)."""
    lengths = torch.tensor([len(x) for x in X])
    whole = padded([(x - centre) / scale for x in X], int(lengths.max())).transpose(0, 2, 1)
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    return torch.tensor(np.ascontiguousarray(whole), dtype=torch.float32), mask


METHODS: dict[str, Method] = {
    "1-NN Euclidean": euclidean,
    "1-NN DTW": dtw,
    "MiniRocket": minirocket,
    "logistic, mean token": mean_token,
    "softmax transformer": transformer,
}
NOT_CROSS_VALIDATED = ("softmax transformer",)  # five more trainings for each data set
