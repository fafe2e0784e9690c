"""What was asked: the search, its panels of cells, the choices between them, and how answers change the question."""
