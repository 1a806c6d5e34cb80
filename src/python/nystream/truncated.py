"""TruncatedSVD, by the name that pickles of 1.1.1 have for it."""
from nystream.estimators import TruncatedSVD as TruncatedSVD
