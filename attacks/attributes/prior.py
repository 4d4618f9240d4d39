"""What the adversary knows beforehand: some attributes of every target, and how the others are distributed given these.

The distribution comes from public records: the share of each joint value of the unknown attributes among the public
records that agree with the target on all known ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int


@dataclass(frozen=True)
class Knowledge:
    """Of n targets, before the release is seen.

    Attributes:
        codes: the targets' records; the columns in `unknown` are not read by any attack.
        unknown: the d attributes to be reconstructed.
        values: their J joint values.
        prior: probability of each joint value, for every target.
    """

    codes: Int[np.ndarray, "n K"]
    unknown: tuple[int, ...]
    values: Int[np.ndarray, "J d"]
    prior: Float[np.ndarray, "n J"]

    @property
    def best_guess(self) -> Int[np.ndarray, "n d"]:
        """The likeliest joint value of every target: the best that can be done without the release."""
        return self.values[np.argmax(self.prior, axis=1)]

    def hits(self, guesses: Int[np.ndarray, "n d"]) -> Int[np.ndarray, "n"]:
        """1 where all unknown attributes of a target are right."""
        return np.all(guesses == self.codes[:, list(self.unknown)], axis=1).astype(np.int64)


def knowledge_from(
    public: Int[np.ndarray, "N K"],
    sizes: Sequence[int],
    targets: Int[np.ndarray, "n K"],
    unknown: Sequence[int],
    pseudo_count: float = 0.0,
) -> Knowledge:
    """The adversary's knowledge of `targets` if `public` is all that is known of the population.

    Args:
        public: records that are not secret.
        sizes: number of values of each attribute.
        unknown: attributes to be reconstructed, different ones.
        pseudo_count: weight, in records, of the overall distribution beside those that agree with the target. With 0
            a target must agree with some public record.

    Raises:
        ValueError: attributes that the table lacks, or a target that agrees with no public record at weight 0.
    """
    _check(sizes, unknown, pseudo_count)
    joint, values = _joint(public, sizes, unknown)
    overall = np.bincount(joint, minlength=len(values)) / len(public)
    groups, place = np.unique(_known(np.concatenate([public, targets]), unknown), axis=0, return_inverse=True)
    place = place.reshape(-1)
    table = np.zeros((len(groups), len(values)))
    np.add.at(table, (place[: len(public)], joint), 1.0)
    found = table[place[len(public) :]] + pseudo_count * overall
    total = found.sum(axis=1, keepdims=True)
    if not np.all(total > 0):
        row = int(np.flatnonzero(total[:, 0] == 0)[0])
        raise ValueError(f"pseudo_count must be > 0 where no public record is like target {row}, got 0")
    return Knowledge(targets, tuple(unknown), values, found / total)


def hindsight_hits(public: Int[np.ndarray, "N K"], sizes: Sequence[int], unknown: Sequence[int]) -> int:
    """Hits on `public` of the guesses that fit it best: no rule from known to unknown attributes makes more.

    Any one rule, the best one included, is therefore right no more often on these samples, so that a Clopper-Pearson
    upper end at this count is above the success of every rule on a fresh record.
    """
    _check(sizes, unknown, 0.0)
    joint, values = _joint(public, sizes, unknown)
    groups, place = np.unique(_known(public, unknown), axis=0, return_inverse=True)
    table = np.zeros((len(groups), len(values)), np.int64)
    np.add.at(table, (place.reshape(-1), joint), 1)
    return int(table.max(axis=1).sum())


def _joint(codes, sizes, unknown) -> tuple[np.ndarray, np.ndarray]:
    """The joint value of every record, as a place among all joint values."""
    shape = [sizes[place] for place in unknown]
    values = np.indices(shape).reshape(len(shape), -1).T
    return np.ravel_multi_index(tuple(codes[:, list(unknown)].T), shape), values


def _known(codes, unknown) -> np.ndarray:
    return np.delete(codes, list(unknown), axis=1)


def _check(sizes, unknown, pseudo_count) -> None:
    inside = all(0 <= place < len(sizes) for place in unknown)
    if not unknown or len(set(unknown)) != len(unknown) or not inside:
        raise ValueError(
            f"unknown must be different attributes in 0 … {len(sizes) - 1}, got {tuple(unknown)}"
        )
    if not pseudo_count >= 0:
        raise ValueError(f"pseudo_count must be >= 0, got {pseudo_count}")
