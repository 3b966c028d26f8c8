"""The paper's figures drawn from our values, with the published values as markers on them."""
