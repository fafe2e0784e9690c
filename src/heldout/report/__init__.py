"""From a result's facts to what people read. Nothing is computed here."""
