"""How often a baseline was looked at: counted in the chain of a class, or in a ledger of one's own."""
