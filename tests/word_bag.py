"""An embedder without a model."""

import numpy as np


class WordBag:
    """An embedder of a text's distinct words, so that the cosine is their overlap."""

    fingerprint = "bag"

    def embed(self, texts):
        rows = np.zeros((len(texts), 512), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.lower().replace(".", " ").split():
                row[sum(map(ord, word)) % 512] = 1.0
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
