"""One trial, its containment, and the ledger of a run."""
