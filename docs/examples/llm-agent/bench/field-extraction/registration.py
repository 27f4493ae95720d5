from benchgate import register_task_class

from .rubric import FieldRubric


@register_task_class(
    "field-extraction",
    systems={"v1": "systems.versions:v1", "v2": "systems.versions:v2"},
    default_system="v2",
)
class FieldExtraction(FieldRubric):
    """The rubric as the harness knows it."""
