"""Studies of data larger than memory: passes over a stream instead of access to rows."""
