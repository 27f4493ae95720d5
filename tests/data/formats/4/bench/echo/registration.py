from benchgate import register_task_class
from .rubric import EchoRubric

SYSTEMS = {name: f"system:{name}" for name in ("old", "new", "worse", "broken")}

@register_task_class("echo", systems=SYSTEMS, observe="observers.judge:judge")
class Registered(EchoRubric): ...
