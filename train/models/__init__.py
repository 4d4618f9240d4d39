"""Networks by name; a new one is one file and one line here."""

from collections.abc import Callable

from ..functional import Model
from .cnn import cnn, cnn_tanh, cnn_tanh_centred
from .fully_connected import fully_connected

MODELS: dict[str, Callable[[tuple[int, ...], int], Model]] = {
    "cnn": cnn,
    "cnn_tanh": cnn_tanh,
    "cnn_tanh_centred": cnn_tanh_centred,
    "fully_connected": fully_connected,
}
"""name -> (shape of one input, number of classes) -> Model"""

__all__ = ["MODELS", "cnn", "cnn_tanh", "cnn_tanh_centred", "fully_connected"]
