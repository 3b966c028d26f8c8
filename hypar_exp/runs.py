"""`python -m hypar_exp.runs`, the same as `hypar-exp runs`."""

from hypar_exp.cli.runs import main

if __name__ == "__main__":
    main()
