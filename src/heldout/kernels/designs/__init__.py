"""Steps before a model: selection and scaling of columns, and how linear models use the result."""
