"""The version, below everything that names it.  [light]"""

__version__ = "0.4.0"
