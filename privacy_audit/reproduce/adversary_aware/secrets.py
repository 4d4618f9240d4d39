"""The three kinds of secrets that Paper U plants, where their lists are installed."""

from __future__ import annotations

from privacy_audit.attacks.secrets.priors import SecretPrior, names, numbers, passwords


def kinds() -> dict[str, SecretPrior]:
    """Priors by name; those whose list is missing are left out."""
    found = {}
    for name, make in (("numbers", numbers), ("passwords", passwords), ("names", names)):
        try:
            found[name] = make()
        except ImportError:
            continue
    return found
