"""The driver of the kernels: a kernel declares which learners it answers and how, the driver does the rest."""
