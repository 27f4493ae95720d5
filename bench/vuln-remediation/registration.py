"""Registers the task class ``vuln-remediation``."""

from __future__ import annotations

from benchgate import register_task_class

from .facts import VulnFacts
from .rubric import VulnRemediationRubric
from .systems.blind_override import BlindOverride
from .systems.careless import CutOut, InstallLatest, OldestVersions, UpgradeAll
from .systems.controls import ClaimsSuccess, DoNothing
from .systems.ladder import Ladder
from .systems.npm_audit_fix import NpmAuditFix


@register_task_class(
    "vuln-remediation",
    systems={
        "blind-override": BlindOverride(),
        "claims-success": ClaimsSuccess(),
        "cut-out": CutOut(),
        "do-nothing": DoNothing(),
        "install-latest": InstallLatest(),
        "ladder": Ladder(),
        "npm-audit-fix": NpmAuditFix(),
        "oldest-versions": OldestVersions(),
        "upgrade-all": UpgradeAll(),
    },
    default_system="ladder",
    facts_model=VulnFacts,
)
class VulnRemediation(VulnRemediationRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
