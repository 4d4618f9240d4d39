"""Tables of categorical records, and their marginals released with Gaussian noise."""

from .acs import acs
from .adult import adult
from .marginals import Marginals, NoisyMarginals
from .table import Attribute, Table
from .toy import toy

SOURCES = {"adult": adult, "acs": acs, "toy": toy}
"""name -> folder (None: the source's own default) -> Table with the attributes of `people.PEOPLE`"""

__all__ = ["SOURCES", "Attribute", "Marginals", "NoisyMarginals", "Table"]
