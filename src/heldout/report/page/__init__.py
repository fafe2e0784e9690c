"""The page: a summary as one HTML file that needs nothing else, asks the network for nothing and trusts no text."""
