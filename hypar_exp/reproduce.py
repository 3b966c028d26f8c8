"""`python -m hypar_exp.reproduce`, the same as `hypar-exp reproduce`."""

from hypar_exp.cli.reproduce import main

if __name__ == "__main__":
    main()
