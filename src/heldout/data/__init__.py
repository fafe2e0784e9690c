"""Files, frames and streams in."""
