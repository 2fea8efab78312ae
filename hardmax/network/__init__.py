"""Networks of general layers, built here or elsewhere: files, evaluation, verdicts, repair."""
