"""Results that are there already: where they are kept, and by which rule they are taken over."""
