"""
Shows what was decided to people: a page, a summary in Markdown, the history of a class.

Every figure is read from the record and its evidence; nothing is judged or tested here.
"""
