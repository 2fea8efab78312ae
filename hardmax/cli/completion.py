"""Shell completion of file names and strategies; click completes commands and options itself."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

VARIABLE = "_HARDMAX_COMPLETE"  # what a shell sets to ask for completions
_FILES = {"DATA", "[DATA]", "DATA2", "MODEL", "MODEL0", "CERT", "OUT", "FILE"}


class _Text(click.types.StringParamType):
    """A text that a shell completes as the name of a file or folder."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self._kind)]


class _Strategy(click.types.StringParamType):
    """The name of a strategy."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from ..construct.build import STRATEGIES

        return [CompletionItem(name) for name in STRATEGIES if name.startswith(incomplete)]


def complete_names(command: click.Command) -> None:
    """Say what a shell shall complete for the parameters of a command."""
    for parameter in command.params:
        shown: Any = parameter.metavar
        if parameter.name == "strategy":
            parameter.type = _Strategy()
        elif shown in _FILES or shown == "DIR":
            parameter.type = _Text("dir" if shown == "DIR" else "file")
