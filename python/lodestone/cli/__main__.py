"""Lets ``python -m lodestone.cli`` run the command line."""

from lodestone.cli import main

main()
