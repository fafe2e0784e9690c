"""From a study to a plan: rules one a file, one flat list of passes, and a plan verified after each."""
