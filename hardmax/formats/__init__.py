"""Files: data sets, models; read with one-line errors, written whole or not at all."""
