"""
What the gate says, as data: the name of a sentence, and the values that it is about.

A decision has no prose. It names sentences of the tables in this room, and :meth:`~benchgate.sentences.says.Says.text`
fills in the values. So a better sentence changes what people read, and no record.
"""
