"""``python -m hardmax`` is the command ``hardmax``."""

from .cli import main

if __name__ == "__main__":
    main()
