"""The command, one file a subcommand. Nothing heavy is imported until a command must work."""
