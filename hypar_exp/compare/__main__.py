"""`python -m hypar_exp.compare`, the same as `hypar-exp compare`."""

from hypar_exp.cli.compare import main

if __name__ == "__main__":
    main()
