"""What the commands print: tables, summaries of certificates, notes on models, results."""
