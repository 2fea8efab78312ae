"""Systems of three sister papers: trained models and what can be certified about each."""
