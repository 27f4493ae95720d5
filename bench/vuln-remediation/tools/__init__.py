"""Makes and checks the cases; not needed to run them."""
