"""The papers by name."""

from __future__ import annotations

from privacy_audit.reproduce.adversary_instantiation.command import ADVERSARY_INSTANTIATION

PAPERS = {"adversary_instantiation": ADVERSARY_INSTANTIATION}
