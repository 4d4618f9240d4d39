"""The papers by name."""

from __future__ import annotations

from privacy_audit.reproduce.adversary_aware.command import ADVERSARY_AWARE
from privacy_audit.reproduce.adversary_instantiation.command import ADVERSARY_INSTANTIATION

PAPERS = {"adversary_instantiation": ADVERSARY_INSTANTIATION, "adversary_aware": ADVERSARY_AWARE}
