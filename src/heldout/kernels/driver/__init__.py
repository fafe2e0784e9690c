"""What all kernels share: a kernel declares which learners it answers and how, and the driver does the rest."""
