"""Kinds of harm: secrets, code from the network, checks turned off."""
