"""The engine of the judge: a problem and a submission go in, a report comes out.

Imports point one way: errors <- models <- the rest <- pipeline <- verify, report <- cli.
"""

__version__ = "0.1.0"
