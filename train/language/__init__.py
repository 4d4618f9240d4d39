"""Language models: what fine-tuning and the attacks on secrets need of one, and models that have it."""

from .interface import LanguageModel, Tokenizer

__all__ = ["LanguageModel", "Tokenizer"]
