"""Makes the work of an AI agent reversible."""

__version__ = "0.1.0"
__all__ = ["__version__"]
