"""Byte-level byte-pair encoding, GPT-2's tokenizer, from its two published files."""

from __future__ import annotations

import functools
import itertools
import json
import pathlib
from collections.abc import Sequence

PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""How GPT-2 cuts a text into pieces; merges never cross a cut."""


def byte_alphabet() -> list[str]:
    """The printable character that stands for each of the 256 bytes in the files.

    >>> byte_alphabet()[ord("a")], byte_alphabet()[ord(" ")]
    ('a', 'Ġ')
    """
    printable = {
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    }
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]


class Bytes:
    """One token for each byte of UTF-8: what is left of GPT-2's tokenizer without merges.

    >>> Bytes().encode("ab")
    [97, 98]
    """

    vocab_size = 256

    def encode(self, text: str) -> list[int]:
        """The bytes of `text`."""
        return list(text.encode("utf-8"))

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of these bytes; what is not UTF-8 becomes the replacement character."""
        return bytes(tokens).decode("utf-8", errors="replace")


class ByteLevelBPE:
    """GPT-2's tokenizer.

    Args:
        vocabulary: symbol in the files' alphabet -> token.
        merges: pairs of symbols, the first merged first.

    Raises:
        ValueError: the vocabulary lacks a byte or what a merge makes.
        ImportError: naming the extra to install.
    """

    def __init__(self, vocabulary: dict[str, int], merges: Sequence[tuple[str, str]]):
        try:
            import regex
        except ImportError:
            raise ImportError("regex is needed: pip install 'privacy-audit[language]'") from None
        self._alphabet = byte_alphabet()
        lacking = {*self._alphabet, *("".join(pair) for pair in merges)} - set(vocabulary)
        if lacking:
            raise ValueError(f"vocabulary must hold every byte and every merge, missing: {min(lacking)}")
        self.vocabulary = vocabulary
        self._ranks = {pair: rank for rank, pair in enumerate(merges)}
        self._bytes = {letter: byte for byte, letter in enumerate(self._alphabet)}
        self._symbols = {token: symbol for symbol, token in vocabulary.items()}
        self._pieces = regex.compile(PATTERN).findall
        self._merged = functools.lru_cache(2**16)(self._merge)

    @classmethod
    def from_files(cls, vocabulary: pathlib.Path, merges: pathlib.Path) -> ByteLevelBPE:
        """Reads `vocab.json` (or `encoder.json`) and `merges.txt` (or `vocab.bpe`).

        Raises:
            ValueError: a file is missing, or they do not fit together.
        """
        for path in (vocabulary, merges):
            if not path.is_file():
                raise ValueError(
                    f"{path.name} must be in the tokenizer's folder, got {path.parent} without it"
                )
        lines = merges.read_text(encoding="utf-8").split("\n")
        pairs = [tuple(line.split(" ")) for line in lines if line and not line.startswith("#version")]
        malformed = [pair for pair in pairs if len(pair) != 2]
        if malformed:
            raise ValueError(f"{merges.name} must have two symbols a line, got {' '.join(malformed[0])!r}")
        return cls(json.loads(vocabulary.read_text(encoding="utf-8")), pairs)

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return max(self.vocabulary.values()) + 1

    def encode(self, text: str) -> list[int]:
        """Tokens of `text`."""
        return [token for piece in self._pieces(text) for token in self._merged(piece)]

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of these tokens; what is not UTF-8 becomes the replacement character."""
        letters = "".join(self._symbols[int(token)] for token in tokens)
        # A special token such as <|endoftext|> is its own text.
        content = b"".join(
            bytes([self._bytes[c]]) if c in self._bytes else c.encode("utf-8") for c in letters
        )
        return content.decode("utf-8", errors="replace")

    def _merge(self, piece: str) -> tuple[int, ...]:
        symbols = [self._alphabet[byte] for byte in piece.encode("utf-8")]
        while len(symbols) > 1:
            pairs = set(itertools.pairwise(symbols))
            first = min(pairs, key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if first not in self._ranks:
                break
            symbols = _joined(symbols, first)
        return tuple(self.vocabulary[symbol] for symbol in symbols)


def _joined(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """Every occurrence of `pair`, from the left, as one symbol."""
    joined, i = [], 0
    while i < len(symbols):
        if tuple(symbols[i : i + 2]) == pair:
            joined.append(symbols[i] + symbols[i + 1])
            i += 2
        else:
            joined.append(symbols[i])
            i += 1
    return joined
