"""Support vector machines on shared kernel matrices: one for each kernel and preparation, for every C, ε and nu."""
