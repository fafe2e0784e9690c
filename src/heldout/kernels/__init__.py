"""Ways to answer cells: brute force here, and a file a learner family for the fast exact ones."""
