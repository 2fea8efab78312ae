"""Writing "hardmax-certificate/1"; docs/certificate.md says what it means."""

from __future__ import annotations

import json
from collections.abc import Callable
from os import PathLike
from pathlib import Path

from ..certify.certificate import Certificate
from ..errors import InputError, ResourceLimitError
from .whole_files import text_writer, write_text, write_together


def write_certificate(certificate: Certificate, path: str | PathLike[str]) -> None:
    """Write a certificate; equal data, model and versions give equal bytes.

    Raises ResourceLimitError where a hyperplane needs longer numbers than the format allows, and
    InputError where the verdict is not "proved", or where data or model did not come
    from files: a certificate is bound to both by their SHA-256.
    """
    write_text(path, _content(certificate))


def write_with_certificate(
    model_path: str | PathLike[str],
    store: Callable[[Path], None],
    path: str | PathLike[str],
    certificate: Callable[[], Certificate],
) -> None:
    """Write a model file by ``store`` and then its certificate; if either fails, neither."""
    write_together(
        [
            (model_path, store),
            (path, lambda temporary: text_writer(_content(certificate()))(temporary)),
        ]
    )


def _content(certificate: Certificate) -> str:
    if not certificate.proved:
        raise InputError("nothing is proved, so there is nothing to certify")
    if None in certificate.sha256.values():
        raise InputError(
            "a certificate names the data and the model by their files, so it needs both from "
            "files, the label sets in the data file: save both and load them again"
        )
    if certificate.unwritable is not None:
        a, b = certificate.unwritable
        raise ResourceLimitError(
            f"the hyperplane between the sets of {a!r} and {b!r} has longer numbers than a "
            f"certificate may hold; give the sets in shorter numbers"
        )
    return json.dumps(certificate.to_json(), ensure_ascii=False, indent=1) + "\n"
