"""Errors, each with the exit code that the command line gives it."""

from __future__ import annotations

ISSUES = "https://github.com/hardmax/hardmax/issues"  # where to report a bug


class HardmaxError(Exception):
    """Base of all errors that a user can meet; ``exit_code`` is the command line's."""

    exit_code = 70


class InputError(HardmaxError, ValueError):
    """Unusable input; the message is one line that names the place and the way out."""

    exit_code = 2


class MissingExtraError(HardmaxError, ImportError):
    """An optional library is not installed; the message names the extra that brings it."""

    exit_code = 2


class ResourceLimitError(HardmaxError):
    """A limit stopped an exact decision, so nothing is claimed."""

    exit_code = 3


class FloatModeError(HardmaxError):
    """Float arithmetic does not follow IEEE 754 in this process, so nothing is claimed."""

    exit_code = 3


class VerdictError(HardmaxError):
    """Two ways to the same verdict differ: a bug in hardmax, so nothing is claimed."""


class ConstructionError(HardmaxError):
    """A builder broke its own promise: a bug in hardmax."""
