"""Attribute inference: what a release of a table tells about attributes of people whose other attributes are known."""

from .posterior import Gibbs
from .prior import Knowledge, hindsight_hits, knowledge_from
from .projection import Projection
from .reconstruct import reconstruct

__all__ = ["Gibbs", "Knowledge", "Projection", "hindsight_hits", "knowledge_from", "reconstruct"]
