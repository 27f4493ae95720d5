"""Builds and runs answers with a real builder, from stand-ins for Chainguard's images; see ``tools/build_judge.py``."""
