"""From a finished study to the record of what it found: estimates, tables, findings, data of figures."""
