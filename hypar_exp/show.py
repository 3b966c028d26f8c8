"""`python -m hypar_exp.show`, the same as `hypar-exp show`."""

from hypar_exp.cli.show import main

if __name__ == "__main__":
    main()
