"""``python -m sdc_problems`` is the ``sdc`` command."""

from sdc_problems.studies.cli import main

if __name__ == "__main__":
    main()
