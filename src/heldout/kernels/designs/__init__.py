"""What stands before a model: columns that are picked and scaled, and what linear models make of them."""
