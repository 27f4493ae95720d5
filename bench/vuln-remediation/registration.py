"""Registers the task class ``vuln-remediation``."""

from __future__ import annotations

from benchgate import register_task_class

from .facts import VulnFacts
from .rubric import VulnRemediationRubric


@register_task_class(
    "vuln-remediation",
    systems={
        "blind-override": "systems.blind_override:BlindOverride",
        "claims-success": "systems.controls:ClaimsSuccess",
        "cut-out": "systems.careless:CutOut",
        "do-nothing": "systems.controls:DoNothing",
        "install-latest": "systems.careless:InstallLatest",
        "ladder": "systems.ladder:Ladder",
        "npm-audit-fix": "systems.npm_audit_fix:NpmAuditFix",
        "oldest-versions": "systems.careless:OldestVersions",
        "upgrade-all": "systems.careless:UpgradeAll",
    },
    default_system="ladder",
    facts_model=VulnFacts,
    observe="observers.npm_test:npm_test",
    serves="tools.registry:serve",
)
class VulnRemediation(VulnRemediationRubric):
    """The rubric as the harness knows it; the scoring itself is in :mod:`.rubric`."""
