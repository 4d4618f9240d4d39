"""The parts by name, in the order in which they are run and shown."""

from __future__ import annotations

from collections.abc import Mapping

from privacy_audit.reproduce.adversary_aware.attributes import figures as attribute_figures
from privacy_audit.reproduce.adversary_aware.attributes import run as attributes
from privacy_audit.reproduce.adversary_aware.attributes import section as attribute_section
from privacy_audit.reproduce.adversary_aware.attributes import settings as attribute_settings
from privacy_audit.reproduce.adversary_aware.canaries import run as canaries
from privacy_audit.reproduce.adversary_aware.canaries import section as canary_section
from privacy_audit.reproduce.adversary_aware.canaries import settings as canary_settings
from privacy_audit.reproduce.adversary_aware.larger import run as larger
from privacy_audit.reproduce.adversary_aware.larger import section as larger_section
from privacy_audit.reproduce.adversary_aware.larger import settings as larger_settings
from privacy_audit.reproduce.adversary_aware.part import Part
from privacy_audit.reproduce.adversary_aware.tables import run as tables
from privacy_audit.reproduce.adversary_aware.tables import section as table_section
from privacy_audit.reproduce.adversary_aware.tightness import figures as tightness_figures
from privacy_audit.reproduce.adversary_aware.tightness import run as tightness
from privacy_audit.reproduce.adversary_aware.tightness import section as tightness_section

NAMES = ("tables", "tightness", "attributes", "canaries", "larger")


def parts(people: str, folder: str | None) -> Mapping[str, Part]:
    """All parts; `people` in `folder` are those whose attributes are reconstructed."""
    return {
        "tables": Part(tables.run, lambda results, at: {}, table_section.write, tables.cost, tables.SCALES),
        "tightness": Part(
            tightness.run, tightness_figures.draw, tightness_section.write, tightness.cost, tightness.SCALES
        ),
        "attributes": Part(
            attributes.run,
            attribute_figures.draw,
            attribute_section.write,
            attributes.cost,
            attribute_settings.scales(people, folder),
            attributes.check,
        ),
        "canaries": Part(
            canaries.run,
            canary_section.draw,
            canary_section.write,
            canaries.cost,
            canary_settings.SCALES,
            canaries.check,
        ),
        "larger": Part(
            larger.run,
            larger_section.draw,
            larger_section.write,
            larger.cost,
            dict.fromkeys(("desk", "paper"), larger_settings.Settings()),
            larger.check,
        ),
    }
