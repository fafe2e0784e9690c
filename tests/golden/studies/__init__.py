"""The golden studies: small, quick, and together over every recipe, role, kernel, loss, choice and final predictor.

Data are made in `ground`, rounded so that their bits are the same everywhere, and each study has rows of its own. Grids
are coarse, so that no choice hangs on a last bit.
"""

from golden.ground import STUDIES
from golden.studies import choices, data, intervals, kernels, losses, recipes, streams, verbs, within

__all__ = ["STUDIES", "choices", "data", "intervals", "kernels", "losses", "recipes", "streams", "verbs", "within"]
