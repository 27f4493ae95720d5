"""Registers the task class ``vuln-remediation``."""

from __future__ import annotations

from benchgate import register_task_class

from .facts import VulnFacts
from .rubric import VulnRemediationRubric
from .systems.blind_override import BlindOverride
from .systems.ladder import Ladder


@register_task_class(
    "vuln-remediation",
    systems={"blind-override": BlindOverride(), "ladder": Ladder()},
    default_system="ladder",
    facts_model=VulnFacts,
)
class VulnRemediation(VulnRemediationRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
