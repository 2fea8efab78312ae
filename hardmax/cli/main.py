"""Entry point: commands, exit codes, and no traceback for any user."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper

import click

from .. import __version__
from ..errors import HardmaxError
from .build import build
from .compare import compare
from .export import export
from .figures import figures
from .info import info
from .report import report
from .run import run
from .verify import verify

EXIT_INTERNAL, EXIT_INTERRUPTED = 70, 130


@click.group(
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    invoke_without_command=True,
    epilog="Exit codes: 0 proved, 1 refuted, 2 bad use, 3 undecided, 70 internal error.",
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


for command in (build, verify, run, info, figures, report, export, compare):
    cli.add_command(command)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    sys.exit(_code(arguments))


@contextmanager
def _ending_cleanly() -> Iterator[None]:
    """Let SIGTERM and SIGHUP end a command as an interrupt does: no temporary file stays."""
    found = [getattr(signal, name, None) for name in ("SIGTERM", "SIGHUP")]
    taken = [number for number in found if number and signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        taken = []  # handlers belong to the main thread
    for number in taken:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, signal.SIG_DFL)


def _code(arguments: Sequence[str] | None) -> int:
    try:
        _write_any_character()
        with _ending_cleanly():
            result = cli.main(args=arguments, prog_name="hardmax", standalone_mode=False)
        sys.stdout.flush()
        return int(result or 0)
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
        # whoever read our output has gone; keep Python from complaining at exit
        sys.stdout = None
        return EXIT_INTERNAL
    except MemoryError:
        click.echo("hardmax: not enough memory for this input; nothing is decided", err=True)
        return 3
    except Exception as problem:
        return _apologise(problem)


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
        f"bug; please report it with the command, the input and this line.",
        err=True,
    )
    return EXIT_INTERNAL
