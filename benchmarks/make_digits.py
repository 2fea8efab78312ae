"""Write scikit-learn's digits as token sequences: digits_train.npz and digits_test.npz.

Run ``python benchmarks/make_digits.py FOLDER`` where scikit-learn is installed; nothing else
here needs it. Row r of an image is one token, in the coordinates 8r … 8r+7 of ℚ^64. The first
1 200 images are for training, the other 597 for testing.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

TRAIN = 1200


def write(path: Path, images: np.ndarray, digits: np.ndarray) -> None:
    """Images of shape (N, 8, 8) with small integers."""
    tokens = np.zeros((len(images), 8, 64), dtype=np.int64)
    for row in range(8):
        tokens[:, row, 8 * row : 8 * row + 8] = images[:, row]
    np.savez_compressed(
        path,
        tokens=tokens.reshape(-1, 64),
        offsets=8 * np.arange(len(images) + 1, dtype=np.int64),
        label=digits.astype(str),
    )


def main() -> None:
    from sklearn.datasets import load_digits

    folder = Path(sys.argv[1])
    data = load_digits()
    images, digits = data.images.astype(np.int64), data.target
    write(folder / "digits_train.npz", images[:TRAIN], digits[:TRAIN])
    write(folder / "digits_test.npz", images[TRAIN:], digits[TRAIN:])


if __name__ == "__main__":
    main()
