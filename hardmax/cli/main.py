"""Entry point: commands, exit codes, and no traceback for any user."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from errno import EBADF, EFBIG, EIO, ENOSPC
from io import TextIOWrapper
from types import FrameType
from typing import Any

import click

from .. import __version__
from ..errors import ISSUES, HardmaxError
from ..exact.numbers import any_digits
from .build import build
from .compare import compare
from .completion import VARIABLE, complete_names
from .export import export
from .figures import figures
from .info import info
from .report import report
from .run import run
from .verify import verify

EXIT_UNUSABLE, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_NO_READER = 2, 70, 130, 141
_NOT_WRITABLE = (EBADF, EFBIG, EIO, ENOSPC)


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="Exit codes: 0 proved, 1 refuted, 2 bad use, 3 undecided, 70 internal error, 130 "
    "interrupted, 141 the reader of the output went away, 143 terminated.",
)
@click.version_option(__version__, prog_name="hardmax")
@click.pass_context
def cli(context: click.Context) -> int:
    """Hardmax transformers that classify labelled sequences, built and proved exactly.

    Start with:  hardmax build data.json -o model.npz
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())
        return 2
    return 0


class _Formatter(click.HelpFormatter):
    """Help in which the names of options leave room for words on a narrow terminal."""

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        super().write_dl(rows, min(col_max, max(self.width // 3, 8)), col_spacing)


class _Context(click.Context):
    formatter_class = _Formatter


cli.context_class = _Context
for command in (build, verify, run, info, figures, report, export, compare):
    command.context_class = _Context
    complete_names(command)
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    sys.exit(exit_code(arguments))


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command as SystemExit does: no temporary file stays."""
    found = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    taken = [number for number in found if number and signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        taken = []  # handlers belong to the main thread
    for number in taken:
        signal.signal(number, _end)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def exit_code(arguments: Sequence[str] | None) -> int:
    """The exit code of a command."""
    if sys.stderr is None:  # closed: messages go nowhere
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115
    if sys.stdout is None:
        click.echo("hardmax: the output is closed; send it to /dev/null if need be", err=True)
        return EXIT_UNUSABLE
    try:
        _write_any_character()
        with _ending_cleanly(), any_digits():
            result = cli.main(
                args=arguments, prog_name="hardmax", standalone_mode=False, **_narrow()
            )
        sys.stdout.flush()
        return int(result or 0)
    except SystemExit as stop:
        if VARIABLE in os.environ:  # click has answered a shell
            return int(stop.code or 0)
        # ours says which signal came; click and rich end so where the reader has gone
        if isinstance(stop.code, int) and stop.code > 128:
            click.echo("terminated", err=True)
            return stop.code
        return _no_reader()
    except click.exceptions.Exit as stop:
        return int(stop.exit_code)
    except click.ClickException as problem:
        where = getattr(problem, "ctx", None)
        command = where.command_path if where is not None else "hardmax"
        click.echo(f"{command}: {problem.format_message()} (see {command} --help)", err=True)
        return 2
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return EXIT_INTERRUPTED
    except HardmaxError as problem:
        if problem.exit_code == EXIT_INTERNAL:
            return _apologise(problem)
        click.echo(f"hardmax: {' '.join(str(problem).splitlines())}", err=True)
        return problem.exit_code
    except BrokenPipeError:
        return _no_reader()
    except OSError as problem:
        if problem.errno not in _NOT_WRITABLE or problem.filename is not None:
            return _apologise(problem)
        sys.stdout = None
        click.echo(f"hardmax: the output can't be written: {problem.strerror}", err=True)
        return EXIT_UNUSABLE
    except MemoryError:
        click.echo("hardmax: not enough memory for this input; nothing is decided", err=True)
        return 3
    except Exception as problem:
        return _apologise(problem)


def _narrow() -> dict[str, Any]:
    """The width of help texts where click would take more columns than there are."""
    columns = shutil.get_terminal_size().columns
    return {"terminal_width": max(columns - 1, 20)} if columns < 52 else {}


def _no_reader() -> int:
    """Whoever read our output has gone; keep Python from complaining at exit."""
    sys.stdout = None
    return EXIT_NO_READER


def _write_any_character() -> None:
    """Print what a terminal's encoding does not hold as escapes instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _apologise(problem: Exception) -> int:
    last = problem.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    place = (
        f" at line {last.tb_lineno} of {last.tb_frame.f_globals.get('__name__')}" if last else ""
    )
    click.echo(
        f"hardmax: internal error, sorry: {type(problem).__name__}: {problem}{place}. This is a "
        f"bug; please report it with the command, the input and this line: {ISSUES}",
        err=True,
    )
    return EXIT_INTERNAL
