"""The public verbs and classes. They connect the packages below and hold no algorithm of their own."""
