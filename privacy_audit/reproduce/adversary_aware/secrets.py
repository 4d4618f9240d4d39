"""The three kinds of secrets that Paper U plants, where their lists are installed."""

from __future__ import annotations

from collections.abc import Container

from privacy_audit.attacks.secrets.priors import KINDS, SecretPrior


def kinds() -> dict[str, SecretPrior]:
    """Priors by name; those whose list is missing are left out, which the document says by `left_out`."""
    found = {}
    for name, make in KINDS.items():
        try:
            found[name] = make()
        except ImportError:
            continue
    return found


def left_out(shown: Container[str]) -> str:
    """A sentence on the kinds that results lack, to follow another; nothing where they have all.

    >>> left_out(("numbers", "names"))
    " Left out, since their lists were not installed (`pip install 'privacy-audit[language]'`): passwords."
    """
    missing = [name for name in KINDS if name not in shown]
    if not missing:
        return ""
    extra = "`pip install 'privacy-audit[language]'`"
    return f" Left out, since their lists were not installed ({extra}): {', '.join(missing)}."
