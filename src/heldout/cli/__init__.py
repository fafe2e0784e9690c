"""The command line, with one file per subcommand. Heavy libraries are imported only when a command needs them."""
