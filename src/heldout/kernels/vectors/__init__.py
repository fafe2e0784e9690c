"""Support vector machines on shared kernel matrices: one for each kernel and preprocessing, for every C, ε and nu."""
