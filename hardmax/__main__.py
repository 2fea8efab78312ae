"""The command ``hardmax``, also ``python -m hardmax``."""

import sys


def main() -> None:
    """Run the command. Interrupted while its modules are loaded, it ends as at any other time."""
    try:
        from .cli import main as command
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
