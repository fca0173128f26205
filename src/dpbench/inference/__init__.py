"""From noisy answers to an estimate: public mathematics, free of budget."""
